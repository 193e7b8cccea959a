"""Collectors from the command line: a file of them is woven into a machine that knows nothing of it."""

from pathlib import Path

ARBITER = Path(__file__).resolve().parents[2] / "examples" / "arbiter" / "arbiter.lss"
STALLS = """
collector stalls on "arbiter.in" event stalled {
  declare <<< uint64_t n; >>>
  record <<< self->n++; >>>
  report <<< report_value("stalls", self->n, "cycles", "waited at ", path); >>>
}
"""


def test_collectors_of_a_file(lss, run_sim, tmp_path):
    (tmp_path / "stalls.lss").write_text(STALLS)
    lss("build", ARBITER, "-o", "collecting", "--collect", "stalls.lss")
    lss("build", ARBITER, "-o", "plain")
    collecting = run_sim(tmp_path / "collecting", "--cycles", "1000", "--quiet")
    plain = run_sim(tmp_path / "plain", "--cycles", "1000", "--quiet")
    stalled = [e for e in collecting.stats["statistics"] if e["name"] == "stalls"]
    assert [(e["path"], e["unit"], e["description"]) for e in stalled] == [
        (f"arbiter.in[{i}]", "cycles", f"waited at arbiter.in[{i}]") for i in range(4)
    ]
    # Four requesters offer in every cycle, one of them goes on.
    assert sum(e["value"] for e in stalled) == 3000
    others = [e for e in collecting.stats["statistics"] if e["name"] != "stalls"]
    assert others == plain.stats["statistics"], "collecting must not change what happens"


def test_wrong_collectors(lss, tmp_path):
    (tmp_path / "more.lss").write_text("instance x : pipe;\n")
    refused = lss("build", ARBITER, "-o", "sim", "--collect", "more.lss", ok=False)
    assert refused.status == 1 and "more.lss:1:10: error[misplaced]: a file of --collect holds collectors and imports only" in refused.err
    missing = lss("build", ARBITER, "-o", "sim", "--collect", "nothing.lss", ok=False)
    assert missing.status == 1 and "cannot read nothing.lss: there is no such file" in missing.err
    unknown = lss("build", ARBITER, "-o", "sim", "--collect", "conections", ok=False)
    assert unknown.status == 2 and unknown.err.count("\n") == 1 and '"connections" or a file' in unknown.err
    assert not (tmp_path / "sim").exists()
