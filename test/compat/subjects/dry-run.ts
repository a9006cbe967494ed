import { del, get, mergePatch, post, put, subject } from "../request-script.ts";
import { configMap, configMaps, pod, pods } from "./sample-objects.ts";

/** Dry-run writes. */
export const dryRun = subject("dry-run", [
  post("create", `${configMaps}?dryRun=All`, configMap("a", { k: "1" })),
  get("nothing is there", `${configMaps}/a`),
  post("create really", configMaps, configMap("a", { k: "1" })),
  post("create what exists", `${configMaps}?dryRun=All`, configMap("a")),
  put("replace", `${configMaps}/a?dryRun=All`, configMap("a", { k: "2" })),
  mergePatch("patch", `${configMaps}/a?dryRun=All`, { data: { k: "3" } }),
  mergePatch("patch to something bad", `${configMaps}/a?dryRun=All`, { metadata: { labels: { "-": "x" } } }),
  del("delete", `${configMaps}/a?dryRun=All`),
  get("nothing has changed", `${configMaps}/a`),
  post("an unknown value", `${configMaps}?dryRun=Some`, configMap("b")),
  post("an empty value", `${configMaps}?dryRun=`, configMap("c")),
  post("twice", `${configMaps}?dryRun=All&dryRun=All`, configMap("d")),
  put("an unknown value with put", `${configMaps}/a?dryRun=Some`, configMap("a")),
  mergePatch("an unknown value with patch", `${configMaps}/a?dryRun=Some`, {}),
  post("a pod", `${pods}?dryRun=All`, pod("p")),
]);
