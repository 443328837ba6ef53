// The choice of a bot's folder: what is never submitted is not sent. The server decides by the same names what it packs.
"use strict";
(() => {
  const input = document.getElementById("folder");
  if (!input) return;
  const leftOut = input.dataset.leftOut.split(" "), environment = input.dataset.environment;
  const pathOf = (file) => file.webkitRelativePath.split("/").slice(1).join("/");
  input.addEventListener("change", () => {
    const all = [...input.files], sent = new DataTransfer();
    const above = all.filter((file) => file.name === environment).map((file) => pathOf(file).slice(0, -environment.length));
    for (const file of all) {
      const path = pathOf(file);
      const never = path.split("/").some((part) => part.startsWith(".") || leftOut.includes(part));
      if (!never && !above.some((folder) => path.startsWith(folder))) sent.items.add(file);
    }
    input.files = sent.files;
    const dropped = all.length - sent.files.length, hint = document.getElementById("folder-hint");
    hint.textContent = sent.files.length + " files are sent" + (dropped ? "; " + dropped + " are left out." : ".");
  });
})();
