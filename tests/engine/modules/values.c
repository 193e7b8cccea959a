// values.c: compares what C sees with what values.lss says.
#include <math.h>
#include <string.h>
#define SAME(what)                                                                                                     \
  if (!(what)) sim_error("not so: %s", #what)
#define INTS(list, ...)                                                                                                \
  do {                                                                                                                 \
    const int64_t wanted[] = {__VA_ARGS__};                                                                            \
    SAME(param_length(list) == sizeof wanted / 8);                                                                     \
    for (int i = 0; i < (int)param_length(list); i++) SAME(param(list)[i] == wanted[i]);                               \
  } while (0)
// What is constant may be used where C wants a constant.
static const state_word constant = state_word_of_level(5) | state_word_of_up(true) | state_word_of_shade(color_green);

static void packed_words(const self_t *self) {
  state_word word = constant;
  SAME(word == 0xa014 && state_word_level(word) == 5 && state_word_up(word) && state_word_shade(word) == color_green);
  word = state_word_set_up(state_word_set_level(state_word_set_number(word, 255), 2), false);
  SAME(word == 0x5fe4 && state_word_number(word) == 255 && !state_word_up(word));
  SAME(state_word_set_number(0, 0xff) == 0x1fe0 && state_word_of_level(9) == state_word_of_level(1));
  SAME(_Generic(state_word_number(word), uint8_t: 1, default: 0) && _Generic(state_word_up(word), bool: 1, default: 0));
  SAME(sizeof word == 2 && long_word_60_rest(long_word_60_of_rest(UINT64_MAX)) == UINT64_MAX >> 4);
  SAME(param(packed_one) == 0xfff4 && param(most).j == 0x10);
  INTS(packed_list, 0x2000, 0x21, 0);
  SAME(self->packed_state == 0x8060 && self->packed_states[0] == 0xffff && self->packed_states[1] == 0);
  SAME(value_word(self->odd) && value_set_word(self->odd, false) == 0 && value_of_word(1) == 1);
  SAME(self->large == (UINT64_C(1) << 4 | 3 << 1));
}

phase_end() {
  packed_words(self);
  INTS(ints, 0, 1, -1, 2147483647, -2147483647, -2147483647 - 1, 2147483648, INT64_MAX, INT64_MIN);
  SAME(param_length(none) == 0 && param_length(empty) == 0 && param_length(none_lit) == 0);
  SAME(sizeof param(none_lit)[0] == 1 && sizeof param(none_text)[0] == sizeof(char *) && sizeof param(none)[0] == 8);
  SAME(_Generic(param(none_real)[0], double: 1, default: 0) && _Generic(param(reals)[0], double: 1, default: 0));
  SAME(param(anything) == 5 && param(low) == INT64_MIN && param(lit) && !param(bools)[1] && param(bools)[2] &&
       sizeof param(bools) == 3);
  SAME(param(any_bools)[0] && !param(any_bools)[1] && sizeof param(any_bools) == 2 && param(any_reals)[1] == 1.5 &&
       !strcmp(param(any_texts)[0], "x"));
  SAME(param(real) == 2.0 && param(real) / 4 == 0.5 && param(reals)[0] == 0.1 && param(reals)[1] == 3 &&
       param(reals)[2] == -1e300);
  SAME(param(share) == 0.125 && param(shares)[0] == 0.01 && param(shares)[1] == 0.5 && param(half) == 0.5);
  SAME(!strcmp(param(text), "a\"b\\c\n\t?"
                            "?=?"
                            "? \xc3\xa4") &&
       strlen(param(text)) == 15);
  SAME(param_length(texts) == 3 && !strcmp(param(texts)[0], "one") && !param(texts)[1][0] &&
       !strcmp(param(texts)[2], "t\"wo"));
  SAME(param(size) == 3072 && param(time) == 1500000 && param(rate) == 8000000 && param(speed) == 88000000 &&
       param(on_clock) == 2000000);
  INTS(sizes, 1, 2048);
  SAME(param(shade) == color_green && param(shades)[0] == color_green && param(shades)[1] == color_red &&
       param(chosen)[0] == strings_some);
  SAME(param(one).x == -3 && param(one).y == 255 && param(points)[0].x == 1 && param(points)[0].y == 0 &&
       param(points)[1].y == 2);
  SAME(param(most).a && param(most).b == -128 && param(most).c == INT64_MAX && param(most).d == 0.5f &&
       param(most).e == color_green && param(most).f.x == 1);
  SAME(param(most).g[0].y == 0 && param(most).g[1].y == 3 && param(most).h[0][0] == 1 && param(most).h[0][1] == 0 &&
       param(most).h[1][1] == 3 && param(most).i == 4095);
  INTS(four, 1, 2, 0, 0);
  SAME(param(narrow) == 255 && param(single) == 0.5);
  SAME(param(number) == -7 && param(truth) && param(third) == 0.25 && !strcmp(param(word), "w") &&
       param(color_one) == color_green);
  INTS(list, 1, 2, 3);
  SAME(param(colors)[1] == color_green && param(rows)[1].y == 2 && param(row).y == 2);
  SAME(self->i == -5 && self->zero == 0 && self->yes && !self->no && self->f == 0.1 &&
       self->shade_state == color_green && self->p.x == 4);
  SAME(self->listed[0] == 1 && self->listed[1] == 2 && self->listed[2] == 0 && self->placed[0].y == 9 &&
       self->placed[1].y == 0);
  SAME(self->grid[0].v[1] == 2 && self->grid[1].v[0] == 3 && self->grid[1].v[1] == 0 && self->array.v[2] == 3 &&
       self->wide.w[0] == 0 && self->least == INT64_MIN);
  SAME(self->every.b == 1 && self->every.h[0][0] == 5 && self->every.h[0][1] == 0 && self->flags[0] &&
       !self->flags[1] && self->narrow_state == 3.0f);
}
