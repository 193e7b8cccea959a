// References of the functional system that no window serves: translated, then to the owner's pages or functions; see
// system.h.
#include "system_code.h"
#include "system_private.h"

bool mips_physical(struct mips_system *m, uint32_t address, enum mips_access access, struct mips_translation *found) {
  *found = mips_system_translate(m, address, access);
  if (found->fault == MIPS_FAULT_NONE) return true;
  mips_raise_fault(m, found->fault, address, access);
  return false;
}

// Translates an aligned reference; *bytes becomes the host memory of its first byte, or NULL.
static bool locate(struct mips_system *m, uint32_t address, unsigned size, enum mips_access access,
                   struct mips_translation *found, uint8_t **bytes) {
  // Three bytes are part of a word, which lwl and its like have found.
  if (size != 3 && (address & (size - 1))) {
    mips_raise_fault(m, MIPS_FAULT_ADDRESS, address, access);
    return false;
  }
  if (!mips_physical(m, address, access, found)) return false;
  *bytes = m->environment.page(m->environment.user, found->physical & (0u - MIPS_PAGE), access);
  if (*bytes == NULL) return true;
  const bool seen = access == MIPS_STORE && m->code != NULL && mips_code_has(m->code, *bytes);
  *mips_window_of(m, address, access) =
      (struct mips_window){.page = (address & (0u - MIPS_PAGE)) | (seen ? MIPS_WINDOW_CODE : 0), .bytes = *bytes};
  *bytes += found->physical % MIPS_PAGE;
  return true;
}

bool mips_read(struct mips_system *m, uint32_t address, unsigned size, enum mips_access access, uint32_t *value) {
  struct mips_translation found;
  uint8_t *bytes;
  if (!locate(m, address, size, access, &found, &bytes)) return false;
  if (bytes != NULL) return *value = mips_get(bytes, size, m->options.big_endian), true;
  mips_code_leave(m);
  if (m->environment.read(m->environment.user, found.physical, size, found.cached, value)) return true;
  if (m->postponed)
    m->postponed = (uint8_t)(1 + access);
  else
    mips_raise(m, access == MIPS_FETCH ? MIPS_EXCEPTION_IBE : MIPS_EXCEPTION_DBE);
  return false;
}

bool mips_write(struct mips_system *m, uint32_t address, unsigned size, uint32_t value) {
  struct mips_translation found;
  uint8_t *bytes;
  if (!locate(m, address, size, MIPS_STORE, &found, &bytes)) return false;
  if (bytes != NULL) {
    mips_put(bytes, size, m->options.big_endian, value);
    const uint32_t offset = address % MIPS_PAGE;
    if (m->code != NULL) mips_code_written(m, bytes - offset, offset, size);
    return true;
  }
  mips_code_leave(m);
  if (m->environment.write(m->environment.user, found.physical, size, found.cached, value)) return true;
  if (m->postponed)
    m->postponed = 1 + MIPS_STORE;
  else
    mips_raise(m, MIPS_EXCEPTION_DBE);
  return false;
}
