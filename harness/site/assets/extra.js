// What the theme leaves out for readers with a keyboard or a screen reader: the name of the search dialog, and a way to
// reach tables that scroll sideways. The theme wraps tables when the page is there, so wrappers are looked for as they come.
"use strict";
document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");

const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) {
      target.tabIndex = 0;
      target.setAttribute("role", "region");
      target.setAttribute("aria-label", `Table ${target.dataset.number}`);
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) target.removeAttribute(name);
    }
  }
});

function watchTables() {
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrapper, index) => {
    if (wrapper.dataset.number) return;
    wrapper.dataset.number = index + 1;
    scrolling.observe(wrapper);
  });
}

watchTables();
new MutationObserver(watchTables).observe(document.querySelector(".md-content") ?? document.body, {
  childList: true,
  subtree: true,
});
