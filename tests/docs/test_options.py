"""docs/options.md: it is what the tool makes of its data, everything that it names exists, and what does not exist is noticed."""

from dataclasses import replace

import pytest

from harness.report import options


def test_the_page_is_up_to_date() -> None:
    assert options.PAGE.read_text() == options.page(options.load()), "docs/options.md is stale: make options"


def test_everything_it_names_exists() -> None:
    assert list(options.missing(options.load())) == []


def test_no_module_of_the_paper_is_left_out() -> None:
    papers = [module.paper for modules in options.load().values() for module in modules]
    named = ["ALU", "MIPS Fetch Unit", "MIPS Decode Unit", "Memory State", "Memory Controller", "Memory Arbiter", "Cache Controller", "DMA Assist", "MAC Assist", "Scratchpad Filter"]
    assert [name for name in named if name not in papers] == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"has": ("alu.nothing",)}, "alu.nothing: alu has no parameter, port or userpoint nothing"),
        ({"has": ("nothing.a",)}, "nothing.a: there is no module nothing"),
        ({"tests": ("modules/core/test_alu.py::test_nothing",)}, "modules/core/test_alu.py::test_nothing: tests/modules/core/test_alu.py has no test test_nothing"),
        ({"tests": ("modules/core/test_no.py::test_results",)}, "modules/core/test_no.py::test_results: there is no file tests/modules/core/test_no.py"),
        ({"tests": ()}, "ALU, integer operation: nothing offers or shows it"),
    ],
)
def test_what_does_not_exist_is_found(change: dict, error: str) -> None:
    title, modules = next(iter(options.load().items()))
    first = modules[0]
    spoilt = replace(first, options=(replace(first.options[0], **change), *first.options[1:]))
    assert list(options.missing({title: [spoilt]})) == [error]


@pytest.mark.parametrize("change", [{"ours": ()}, {"options": ()}])
def test_a_module_without_anything_is_found(change: dict) -> None:
    first = next(iter(options.load().values()))[0]
    assert list(options.missing({"": [replace(first, **change)]}))[0] == f"{first.paper}: no module, or no option"
