"""Crossings that can be cut: in the C of a module, nothing but a flight is used at both ends."""

import pytest

MACHINE = """
clock fast = 100 MHz;
instance s : source on fast;
instance d : delivery;
instance k : sink;
s.out -> d.in : uint32;
d.out -> k.in;
"""
SEVERAL = "in phase_end(in), and `out` in"


@pytest.fixture
def said(lss, root, tmp_path):
    """said({old: new} of delivery.c, {old: new} of delivery.lss): what `lss check` says, without the folder."""

    def check(code: dict[str, str], declarations: dict[str, str] | None = None, ok: bool = False) -> str:
        for name, changes in (("delivery.c", code), ("delivery.lss", declarations or {})):
            text = (root / "tests/engine/modules" / name).read_text()
            for old, new in changes.items():
                assert text.count(old) == 1, old
                text = text.replace(old, new)
            (tmp_path / name).write_text(text)
        (tmp_path / "m.lss").write_text(MACHINE)
        return lss("check", tmp_path / "m.lss", ok=ok).err.replace(f"{tmp_path}/", "")

    return check


FIELD = {"bool left; ": "bool left; uint32 seen; stream file; "}
HELPER = "static void take(self_t *self) {\n  self->seen++;\n}\n\nphase_end(in)"


@pytest.mark.parametrize(
    ("code", "message", "note"),
    [
        ({"  count(sent);": "  count(sent);\n  self->left = true;"}, "both ends of the crossing use the state `left`: `in` does so in phase_end(in), and `out` in phase_end(out)", "used here at the end `in`"),
        ({"  count(delivered);": "  count(delivered);\n  count(sent);"}, "both ends of the crossing use the statistic `sent`: `in` does so in phase_end(in), and `out` in phase_end(out)", "used here at the end `in`"),
        ({"phase_end(in)": HELPER, "  count(sent);": "  take(self);", "  count(delivered);": "  take(self);"}, "both ends of the crossing use the state `seen`: `in` does so in take, and `out` in take", "used here"),
        ({"phase_end(in)": HELPER, "  count(sent);": "  self->seen = 1;"}, "both ends of the crossing use the state `seen`: `in` does so in take, and `out` in take", "only a flight leads from one end to the other"),
        ({"phase_end(in)": "#define SEEN self->seen\n\nphase_end(in)", "  count(sent);": "  SEEN = 1;"}, "a macro uses the state `seen`, and may be used at both ends of the crossing: write a function, or self->seen", "declared"),
        ({"  flight_drop(way);": "  flight_drop(way);\n  flight_send(way, 1000000, 1);"}, "flight_send belongs to the end `in` of the crossing; phase_end(out) belongs to `out`", "the two ends may be"),
        ({"  count(sent);": "  if (flight_due(way)) count(sent);"}, "flight_due belongs to the end `out` of the crossing; phase_end(in) belongs to `in`", "the two ends may be"),
        ({"phase_end(in)": HELPER.replace("self", "me").replace("me_t", "self_t"), "  count(sent);": "  take(self);"}, "calls the state `me`: call it `self`, so that it is known which end of the crossing uses which field", ""),
        ({"phase_end(in)": "statistics() {\n  counted(sent) += self->left;\n}\n\nphase_end(in)"}, "statistics uses state of both ends of the crossing, `sent` and `left`", "the two ends may be"),
    ],
)  # fmt: skip
def test_what_both_ends_use(said, code, message, note):
    text = said(code, FIELD)
    assert f"error[cut-state]: {message}" in text or (message.startswith("calls") and message in text)
    assert note == "declared" or note in text
    assert text.count("error[") == 1, text


def test_an_event_of_both_ends(said):
    events = {"  count(sent);": "  event(moved);", "  count(delivered);": "  event(moved);"}
    assert "error[cut-state]: both ends of the crossing emit `moved`: `in` does so in phase_end(in), and `out` in phase_end(out)" in said(
        events, {"  cut delay;": "  event moved();\n  cut delay;"}
    )


def test_init_may_set_state_of_both_ends_but_open_no_file_for_both(said):
    """It runs in each half, on its own copy."""
    fields = {"bool left; ": "bool left; uint32 seen; uint32 kept; stream file; ", "  next_event in;": "  init;\n  next_event in;"}
    sets = "init() {\n  self->seen = 1;\n  self->kept = 2;\n}\n\nphase_end(in)"
    code = {"phase_end(in)": sets, "  count(sent);": "  self->seen++;\n  count(sent);", "  count(delivered);": "  self->kept++;\n  count(delivered);"}
    assert said(code, fields, ok=True) == ""
    opens = {**code, "phase_end(in)": sets.replace("  self->kept", '  stream_write_open(&self->file, "out");\n  self->kept')}
    assert "error[cut-state]: init uses state of both ends of the crossing, `seen` and `kept`, and would open its file at each" in said(opens, fields)
    assert said({**opens, "  count(delivered);": "  self->left = true;"}, fields, ok=True) == ""
