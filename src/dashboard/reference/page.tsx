import { render } from "preact";
import { Announcement, addPaneTools } from "./pane-tools.tsx";
import { Search } from "./search.tsx";
import { TryIt } from "./try-it.tsx";

const place = document.getElementById("search");
if (place !== null) {
  render(
    <>
      <Search />
      <Announcement />
    </>,
    place,
  );
}
for (const pane of document.querySelectorAll("figure")) addPaneTools(pane);
for (const request of document.querySelectorAll(".request")) {
  const section = request.closest("section");
  if (section === null) continue;
  const form = document.createElement("div");
  form.className = "try";
  request.after(form);
  render(<TryIt operationId={section.id} title={section.querySelector("h3")?.textContent ?? ""} />, form);
}
