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
}

document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.classList.add("scripted");
  enliven(document.documentElement);
  document.querySelector("[autofocus], .field-error .input")?.focus();
});
