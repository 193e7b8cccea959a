"""The module reference: complete, from the declarations, and without dead links."""

import re

from harness.report import reference
from tests.tree import library_modules, library_types


def test_every_module_and_type_has_its_entry(root, build_dir, tmp_path) -> None:
    (tmp_path / "bin").symlink_to(build_dir / "bin")
    types = sorted(path.stem for path in library_types(root))
    index = reference.write(tmp_path, types)
    page = index.read_text()
    ids = set(re.findall(r'<h2 id="([^"]+)"', page))
    modules = {path.stem for path in library_modules(root)}
    assert modules <= ids and {"mem", "mem_request"} <= ids
    assert {link for link in re.findall(r'href="#([^"]+)"', page)} <= ids
    assert {path.stem for path in index.parent.glob("*.md")} == modules | set(types)
