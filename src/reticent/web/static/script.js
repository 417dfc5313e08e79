// SPDX-License-Identifier: Apache-2.0
// The one script of the pages. Everything works without it; with it, running work is watched, forms marked as live show
// their result while one types, and a page that is left with unsaved input asks first.
"use strict";

const BETWEEN = 400; // milliseconds between two looks at running work
const PAUSE = 200; // milliseconds after the last key before a live form is sent

// Running work: <div data-work="id"> holds a <progress> and a [data-what]; when it is over, the page is fetched anew.
function watch(box) {
  const bar = box.querySelector("progress");
  const words = box.querySelector("[data-what]");
  async function look() {
    let found;
    try {
      const answer = await fetch(`/work/${box.dataset.work}`, { headers: { Accept: "application/json" } });
      found = await answer.json();
    } catch {
      words.textContent = "The server does not answer. Is it still running in the terminal?";
      setTimeout(look, 10 * BETWEEN);
      return;
    }
    if (found.state !== "running") {
      location.reload();
      return;
    }
    bar.value = found.percent;
    words.textContent = `${found.percent} % · ${found.what || "working"} · ${found.seconds} s`;
    setTimeout(look, BETWEEN);
  }
  setTimeout(look, BETWEEN);
}

// Live forms: <form data-live="id"> asks its page again after each change and puts the part with that id in place.
function live(form) {
  let timer = 0;
  let latest = 0;
  async function send() {
    const own = ++latest;
    const asked = new URL(form.action);
    asked.search = new URLSearchParams(new FormData(form)).toString();
    const answer = await fetch(asked, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (own !== latest) return;
    for (const id of form.dataset.live.split(" ")) {
      const part = page.getElementById(id);
      const old = document.getElementById(id);
      if (part && old) {
        old.replaceWith(part);
        enliven(part);
      }
    }
    history.replaceState(null, "", asked);
  }
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
  });
}

// Forms that are tried while one types: <form data-trial> sends itself with try=1, and the parts that come back, each with
// the id of a part of this page, are put in place. Nothing is saved.
function trial(form) {
  let timer = 0;
  let latest = 0;
  async function send() {
    const own = ++latest;
    const body = new URLSearchParams(new FormData(form));
    body.set("try", "1");
    const answer = await fetch(form.action, { method: "POST", body });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (own !== latest || !answer.ok) return;
    for (const part of page.querySelectorAll("[data-tried]")) {
      const old = document.getElementById(part.id);
      if (old) {
        old.textContent = part.textContent;
        old.className = part.className || old.className;
      }
    }
  }
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
  });
}

// Links within <section data-swap="id id"> put these parts of their page in place, so that one keeps one's place on this one.
async function swap(event) {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const here = link.closest("[data-swap]");
  const to = new URL(link.getAttribute("href"), location.href); // links of figures have no plain href
  if (!here || to.pathname !== location.pathname || unsaved) return;
  event.preventDefault();
  const [ids, at] = [here.dataset.swap.split(" "), [...here.querySelectorAll("a")].indexOf(link)];
  const scrolled = here.querySelector(".tall")?.scrollTop;
  const answer = await fetch(to, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const parts = ids.map((id) => [document.getElementById(id), page.getElementById(id)]);
  if (!answer.ok || parts.some((pair) => !pair[0] || !pair[1])) {
    location.assign(to);
    return;
  }
  history.pushState(null, "", to.pathname + to.search);
  for (const back of document.querySelectorAll("input[name=back]")) back.value = to.pathname + to.search;
  for (const [old, part] of parts) {
    old.replaceWith(part);
    enliven(part);
  }
  const now = document.getElementById(ids[0]);
  if (scrolled) now.querySelector(".tall").scrollTop = scrolled;
  (now.querySelector(".heat [aria-current]") ?? now.querySelectorAll("a")[at])?.focus({ preventScroll: true });
}
window.addEventListener("popstate", () => location.reload());

// A slider shows its number beside it: <input type="range" data-shown="id of an output">.
function slider(input) {
  const output = document.getElementById(input.dataset.shown);
  const show = () => {
    output.textContent = input.value;
  };
  input.addEventListener("input", show);
  show();
}

// Fields that matter only for one choice: <div data-when="name=value">; without script all of them are shown.
function conditional(form) {
  const parts = form.querySelectorAll("[data-when]");
  function update() {
    const values = new FormData(form);
    for (const part of parts) {
      const [name, value] = part.dataset.when.split("=");
      part.hidden = !values.getAll(name).includes(value);
    }
  }
  if (parts.length) {
    form.addEventListener("change", update);
    update();
  }
}

// Boxes that can be dragged: <label draggable> with a checkbox, dropped on <fieldset data-drop="value of select[name=to]">,
// is as if it were ticked and moved there; without a mouse one ticks and moves.
function drag(form) {
  form.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/plain", event.target.querySelector("input").value);
  });
  for (const place of form.querySelectorAll("[data-drop]")) {
    place.addEventListener("dragover", (event) => event.preventDefault());
    place.addEventListener("drop", (event) => {
      event.preventDefault();
      const box = form.querySelector(`[draggable] input[value="${CSS.escape(event.dataTransfer.getData("text/plain"))}"]`);
      if (!box || place.contains(box)) return;
      box.checked = true;
      form.elements.to.value = place.dataset.drop;
      form.requestSubmit(form.querySelector(".button-main"));
    });
  }
}

// Changed forms: <form data-keep> warns before its input is left unsaved.
let unsaved = false;
function keep(form) {
  form.addEventListener("input", () => {
    unsaved = true;
  });
  form.addEventListener("submit", () => {
    unsaved = false;
  });
}
window.addEventListener("beforeunload", (event) => {
  if (unsaved) event.preventDefault();
});

function enliven(root) {
  const all = (query) => [...(root.matches?.(query) ? [root] : []), ...root.querySelectorAll(query)];
  all("[data-work]").forEach(watch);
  all("form[data-live]").forEach(live);
  all("input[data-shown]").forEach(slider);
  all("form").forEach(conditional);
  all("form[data-keep]").forEach(keep);
  all("form[data-trial]").forEach(trial);
  all("form:has([data-drop])").forEach(drag);
}

document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.classList.add("scripted");
  document.addEventListener("click", swap);
  enliven(document.documentElement);
  document.querySelector("[autofocus], .field-error .input")?.focus();
});
