// Keys of the search, and results while one types. Every page works without this file.
"use strict";

const box = document.getElementById("q");
const results = document.getElementById("results");
const QUIET = 350; // milliseconds without a key before what is typed is searched

function links() {
  return [...document.querySelectorAll("a.open, .beside summary")];
}

function step(by) {
  const all = links();
  const next = all.indexOf(document.activeElement) + by; // -1 + 1: the first, from the box or from nowhere
  const target = next < 0 ? box : all[Math.min(next, all.length - 1)];
  target?.focus();
  target?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const active = document.activeElement;
  const writes = active.matches("input, select, textarea");
  const nowhere = active === document.body || active.id === "main"; // as after a search was sent or opened
  if (event.key === "/" && !writes) {
    box.focus();
    box.select();
  } else if (event.key === "ArrowDown" && links().length && (active === box || nowhere || links().includes(active))) {
    step(1);
  } else if (event.key === "ArrowUp" && links().includes(active)) {
    step(-1);
  } else {
    return;
  }
  event.preventDefault();
});

let timer = 0;
let asking = new AbortController();

async function show() {
  asking.abort();
  asking = new AbortController();
  const fields = new URLSearchParams(new FormData(box.form));
  fields.set("typing", "1");
  try {
    const answer = await fetch(`/search?${fields}`, { headers: { Accept: "text/html" }, signal: asking.signal });
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      results.replaceChildren(...page.body.childNodes);
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

if (results) {
  box.addEventListener("input", () => {
    clearTimeout(timer);
    if (box.value.trim().length > 2) timer = setTimeout(show, QUIET);
  });
  box.form.addEventListener("submit", () => {
    clearTimeout(timer);
    asking.abort();
  });
}
