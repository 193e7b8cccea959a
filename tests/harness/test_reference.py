"""The module reference: complete, from the declarations, and without dead links."""

import os
import re

import pytest

from harness.report import reference
from harness.run.used_files import ClashError
from tests.tree import library_modules, library_types


def test_every_module_and_type_has_its_entry(root, build_dir, tmp_path) -> None:
    (tmp_path / "bin").symlink_to(build_dir / "bin")
    types = sorted(path.stem for path in library_types(root))
    hostile = tmp_path / os.fsdecode(b"-a \"b' &<img src=x>|`*\xff.lss")
    hostile.write_text("/** <script>alert(1)</script> */\nstruct sample { uint8 x; /** <img src=x> */ };\n")
    index = reference.write(tmp_path, [*types, str(hostile)])
    page = index.read_text()
    assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page and "&lt;img src=x&gt;|`*\\xff.lss" in page
    ids = set(re.findall(r'<h2 id="([^"]+)"', page))
    modules = {path.stem for path in library_modules(root)}
    assert modules <= ids and {"mem", "mem_request"} <= ids
    assert {link for link in re.findall(r'href="#([^"]+)"', page)} <= ids
    assert {path.stem for path in index.parent.glob("*.md")} == modules | set(types) | {hostile.stem}


def test_two_files_of_types_with_one_name(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(reference.compiler, "lss", lambda build, *words: "" if words[0] == "list" else "text")
    with pytest.raises(ClashError, match="b/x.lss: a/x.lss writes it too"):
        reference.write(tmp_path, ["a/x.lss", "b/x.lss"])
