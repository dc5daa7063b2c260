// Searches the sections of all pages for those with every word. Their index is loaded when somebody searches.
"use strict";

const up = document.currentScript.dataset.up;
const most = 20;
let asked = false;

// load calls then when the index is there.
function load(then) {
  if (typeof sections !== "undefined") { then(); return; }
  if (asked) return;
  asked = true;
  const script = document.createElement("script");
  script.src = up + "index.js";
  script.onload = then;
  document.head.append(script);
}

// matchers finds words by their beginnings.
function matchers(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => new RegExp("(?<![\\p{L}\\p{N}])" + word.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&"), "giu"));
}

// rank says how well a section fits: a word in its heading counts most, then one in the title of its page, then each in its text. 0 is
// not at all.
function rank(section, words) {
  let sum = 0;
  for (const word of words) {
    const of = (text) => (text.match(word) || []).length;
    const heading = of(section.heading), title = of(section.title), text = of(section.text);
    if (!heading && !title && !text) return 0;
    sum += (heading ? 9 : 0) + (title ? (section.heading ? 3 : 12) : 0) + Math.min(text, 8) / 2;
  }
  return section.page.startsWith("docs/decisions/") || section.page === "docs/requirements.html" ? sum / 4 : sum;
}

// extract is the part of a text around the first of the words.
function extract(text, words) {
  const first = Math.min(...words.map((word) => text.search(word)).filter((at) => at >= 0), text.length);
  const from = first === text.length ? 0 : Math.max(0, first - 60);
  return (from > 0 ? "… " : "") + text.slice(from, from + 200) + (text.length > from + 200 ? " …" : "");
}

function show() {
  const found = document.getElementById("found");
  const words = matchers(document.getElementById("q").value);
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const hits = sections.map((s) => ({ s, rank: rank(s, words) })).filter((h) => h.rank > 0).sort((a, b) => b.rank - a.rank);
  const list = document.createElement("ol");
  for (const { s } of hits.slice(0, most)) {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
    link.href = up + s.page + (s.anchor ? "#" + s.anchor : "");
    link.textContent = s.heading ? s.title + ": " + s.heading : s.title;
    text.textContent = extract(s.text, words);
    item.append(link, text);
    list.append(item);
  }
  found.replaceChildren(list);
  if (hits.length === 0) found.textContent = "No page has all these words.";
}

document.getElementById("q").addEventListener("input", () => load(show));
const query = new URLSearchParams(location.search).get("q");
if (query) {
  document.getElementById("q").value = query;
  load(show);
}
