// address_translator.c: what the addresses of an out-of-order core are; see address_translator.lss.
#include "mmu/mmu_segment.h"

handler(look_up) {
  const uint32_t address = data(port_query).address;
  const translation_request request = {.address = address, .asid = data(context).asid};
  const micro_tlb_translation segment = mmu_unmapped(address, data(context));
  set(segment, segment);
  send_if(lookup_request, some(port_query) && segment.route == micro_tlb_route_none, request);
}

handler(reply) {
  const uint32_t address = data(port_query).address;
  micro_tlb_translation t = get(segment);
  if (t.route == micro_tlb_route_none) {
    const translation_reply *found = &data(lookup_reply);
    const bool may = found->hit && found->valid && (found->dirty || !data(port_query).writes);
    if (may) t = mmu_physical(found->frame | (address & found->mask), found->cacheability);
  }
  const address_reply reply = {.plain = t.route == micro_tlb_route_cached, .physical = t.physical};
  send_if(port_reply, some(port_query), reply);
}
