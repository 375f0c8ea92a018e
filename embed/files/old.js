// For browsers that cannot read the page's other scripts: this one is written for the oldest of them, without anything newer.
window.addEventListener("load", function () {
  var place = document.getElementById("loading");
  // The program removes the one, and rescue.js, which says all else, sets the other.
  if (!place || typeof window.deltascopeKeep === "function") return;
  var words = {
    en: "The program cannot start: this browser is too old for it, or a file did not come. Load the page again, or use a current version of Chrome, Edge, Firefox or Safari.",
    "zh-Hans": "程序无法启动：此浏览器版本太旧，或有文件未能加载。请重新加载页面，或使用新版的 Chrome、Edge、Firefox 或 Safari。",
  };
  while (place.lastChild) place.removeChild(place.lastChild);
  place.setAttribute("role", "alert");
  for (var lang in words) {
    var text = document.createElement("p");
    text.lang = lang;
    text.textContent = words[lang];
    place.appendChild(text);
  }
});
