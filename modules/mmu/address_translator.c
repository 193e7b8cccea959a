// address_translator.c: what the addresses of an out-of-order core are; see address_translator.lss.
#include "mmu/mmu_segment.h"

handler(look_up) {
  const uint32_t address = data(port_query).address;
  const int context = param(contexts) > 1 && some(port_query) ? data(port_query).context : 0;
  const translation_request request = {.address = address, .asid = data(context, context).asid};
  const micro_tlb_translation segment = mmu_unmapped(address, data(context, context));
  const bool mapped = some(port_query) && segment.route == micro_tlb_route_none;
  set(segment, segment);
  for (int c = 0; c < param(contexts); c++) send_if(lookup_request, c, mapped && c == context, request);
}

handler(reply) {
  const uint32_t address = data(port_query).address;
  micro_tlb_translation t = get(segment);
  if (t.route == micro_tlb_route_none) {
    const translation_reply *found = &data(lookup_reply, param(contexts) > 1 ? data(port_query).context : 0);
    const bool may = found->hit && found->valid && (found->dirty || !data(port_query).writes);
    if (may) t = mmu_physical(found->frame | (address & found->mask), found->cacheability);
  }
  const address_reply reply = {.plain = t.route == micro_tlb_route_cached, .physical = t.physical};
  send_if(port_reply, some(port_query), reply);
}
