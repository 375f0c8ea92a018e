import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "deltascope/deltascope.css";
import Page from "./page.mdx";

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
