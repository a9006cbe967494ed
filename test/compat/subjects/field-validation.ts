import { mergePatch, post, put, subject } from "../request-script.ts";
import { configMap, configMaps, pod, pods } from "./sample-objects.ts";

const odd = (name: string) => ({ ...configMap(name, { k: "1" }), unknown: 1, other: { a: 1 } });
/** Unknown fields of built-in kinds. */
export const fieldValidation = subject("field-validation", [
  post("default", configMaps, odd("a")),
  post("ignore", `${configMaps}?fieldValidation=Ignore`, odd("b")),
  post("warn", `${configMaps}?fieldValidation=Warn`, odd("c")),
  post("strict", `${configMaps}?fieldValidation=Strict`, odd("d")),
  post("unknown value", `${configMaps}?fieldValidation=Perhaps`, odd("d")),
  post("unknown in metadata, strict", `${configMaps}?fieldValidation=Strict`, configMap("g", {}, { unknown: 1 })),
  post(
    "unknown in a pod, strict",
    `${pods}?fieldValidation=Strict`,
    pod("p", { containers: [{ name: "a", image: "i", unknown: 1 }], unknown: 2 }),
  ),
  post("another case, strict", `${configMaps}?fieldValidation=Strict`, { ...configMap("h"), Data: { a: "b" } }),
  put("put, strict", `${configMaps}/a?fieldValidation=Strict`, odd("a")),
  put("put, warn", `${configMaps}/a?fieldValidation=Warn`, odd("a")),
  mergePatch("patch, strict", `${configMaps}/a?fieldValidation=Strict`, { unknown: 1 }),
  mergePatch("patch, warn", `${configMaps}/a?fieldValidation=Warn`, { unknown: 1 }),
]);
