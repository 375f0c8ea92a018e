const relist = document.querySelector("#relist");
const said = document.querySelector("#said");

relist.addEventListener("ds-marker", ({ detail }) => (said.textContent = detail.id));
for (const button of document.querySelectorAll("[data-era]")) {
  button.addEventListener("click", async () => {
    await relist.setEra(button.dataset.era);
    await relist.seek("told");
  });
}
