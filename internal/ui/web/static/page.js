// Keeps an open page as the project is: a server-sent event says that something has changed, the page is fetched again, and the
// parts that differ are exchanged. A part in which a person writes stays. Without this file everything works by loading again.
"use strict";

const said = document.getElementById("said");
const events = document.body.dataset.events;
let source = null;
let busy = false;
let again = false;

function say(text) {
  if (said && said.textContent !== text) said.textContent = text;
}

// written reports whether a person writes in a part, or has written.
function written(part) {
  for (const field of part.querySelectorAll("input, textarea")) {
    if (field === document.activeElement && field.type !== "radio") return true;
    if (field.type === "radio" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue) return true;
  }
  return false;
}

// place says which element of a page one is, whatever else has changed: where it stands, its kind, where it leads, and its words.
function place(e) {
  return [e.closest("[id]").id, e.tagName, e.getAttribute("href"), e.textContent].join(" ");
}

// exchange puts the new content of a part in place of the old one. What was opened stays open, and the focus stays, so that whoever
// goes by the tab key is not sent back; if two elements could be meant, neither gets it.
function exchange(was, now) {
  const open = new Set([...was.querySelectorAll("details[open] > summary")].map(place));
  const focus = was.contains(document.activeElement) ? place(document.activeElement) : "";
  was.replaceChildren(...now.childNodes);
  for (const s of was.querySelectorAll("details > summary")) if (open.has(place(s))) s.parentNode.open = true;
  const meant = focus ? [...was.querySelectorAll("a, button, summary, [tabindex]")].filter((e) => place(e) === focus) : [];
  if (meant.length === 1) meant[0].focus({ preventScroll: true });
}

async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.status === 401) { say("This browser is logged out."); stop(); return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    let kept = false, changed = false;
    for (const now of page.querySelectorAll("[data-live]")) {
      const was = document.getElementById(now.id);
      if (!was || was.innerHTML === now.innerHTML) continue;
      if (written(was)) { kept = true; continue; }
      exchange(was, now);
      changed = true;
    }
    const tail = document.getElementById("tail"), newer = page.getElementById("tail");
    if (tail && newer && tail.dataset.run !== newer.dataset.run) { // another agent works now
      unfollow();
      exchange(tail, newer);
      tail.dataset.run = newer.dataset.run;
      found();
      follow();
    }
    document.title = page.title;
    if (kept) say("The task has changed. What you write is kept; load the page again to see the change.");
    else if (changed) say("Updated at " + new Date().toLocaleTimeString());
  } catch {
    say("ferrus web does not answer.");
  } finally {
    busy = false;
    if (again) { again = false; refresh(); }
  }
}

function start() {
  if (!events || source) return;
  source = new EventSource(events);
  source.addEventListener("change", refresh);
  source.addEventListener("time", refresh);
  source.addEventListener("error", () => say("Connecting again …"));
  source.addEventListener("hello", () => {
    if (said && said.textContent.startsWith("Connecting")) say("");
    refresh(); // what has changed since this page was made, and before its changes were listened to
  });
}

function stop() {
  if (source) source.close();
  source = null;
}

// A browser opens only six connections to a host: a page that is not seen needs none.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) { stop(); unfollow(); } else { start(); follow(); refresh(); }
});

// The output of an agent has a stream of its own, by the offset in its log.
let output = null;
let outputs = null;
let next = null;

function found() {
  output = document.getElementById("output");
  next = output && output.dataset.output;
  if (output) output.scrollTop = output.scrollHeight;
}

function follow() {
  if (!next || outputs) return;
  outputs = new EventSource(next);
  outputs.addEventListener("output", (e) => {
    const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 40;
    const text = JSON.parse(e.data);
    if (text) output.append(text);
    const url = new URL(next, location.href);
    url.searchParams.set("offset", e.lastEventId);
    next = url.pathname + url.search;
    if (atEnd) output.scrollTop = output.scrollHeight;
  });
  outputs.addEventListener("end", () => { unfollow(); next = null; });
}

function unfollow() {
  if (outputs) outputs.close();
  outputs = null;
}

// A key presses what stands on the page with that key: in the item that was stepped to, which is the first until then, or outside of
// all items. None does while a person writes.
let item = "";

function step(by) {
  const all = [...document.querySelectorAll("[data-item]")];
  const at = all.findIndex((one) => one.id === item);
  const to = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  if (!to) return;
  item = to.id;
  const first = to.querySelector("summary, a, button");
  if (first) first.focus({ preventScroll: true });
  to.scrollIntoView({ block: "start" });
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || e.target.closest("input, textarea, select")) return;
  if (e.key === "j" || e.key === "k") { step(e.key === "j" ? 1 : -1); e.preventDefault(); return; }
  const named = `[data-key="${CSS.escape(e.key)}"]`;
  const here = document.getElementById(item) || document.querySelector("[data-item]");
  const press = (here && here.querySelector(named)) || [...document.querySelectorAll(named)].find((one) => !one.closest("[data-item]"));
  if (press) { e.preventDefault(); press.click(); }
});

found();
if (!document.hidden) { start(); follow(); }
