// Filters the problems by words. Without this script the field is hidden, and the page shows all problems.

import { find } from "./dom.js";

const entries = [...document.querySelectorAll(".problems > .entry")];

function filter() {
  const words = find("words").value.toLowerCase().split(/\s+/);
  for (const entry of entries) {
    const text = entry.textContent.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
    document.querySelector(`.contents [href="#${entry.id}"]`).parentElement.hidden = entry.hidden;
  }
  const { length } = entries.filter((entry) => !entry.hidden);
  find("found").textContent = length ? `${length} of ${entries.length} problems` : "No problem has these words.";
}

find("filter").hidden = false;
find("words").addEventListener("input", filter);
filter(); // a browser that restores the page also restores the words
