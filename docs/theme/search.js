// The search box of the manual; `/` leads to it.
new PagefindUI({ element: "#search", showSubResults: true, showImages: false, resetStyles: false });

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    document.querySelector("#search input").focus();
  }
});
