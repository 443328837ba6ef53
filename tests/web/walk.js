// Walks through all steps of a page by its keys: what the picture and the words are at each.
() => {
  const seen = [];
  const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  document.body.style.display = "none"; // what is built is looked at, and need not be laid out for each step
  press("Home");
  const count = Number(document.getElementById("slider").max) + 1;
  for (let at = 0; at < count; at += 1) {
    seen.push([document.getElementById("picture").innerHTML, document.getElementById("words").innerHTML]);
    press("ArrowRight");
  }
  document.body.style.display = "";
  return seen;
};
