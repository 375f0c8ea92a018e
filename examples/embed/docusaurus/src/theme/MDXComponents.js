import MDXComponents from "@theme-original/MDXComponents";
import { DeltaScope } from "deltascope/react";

export default { ...MDXComponents, DeltaScope };
