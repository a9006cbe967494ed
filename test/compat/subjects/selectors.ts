import { get, post, subject } from "../request-script.ts";
import { configMap, configMaps, node, nodes, pod, pods, secrets } from "./sample-objects.ts";

const byLabel = (name: string, selector: string) =>
  get(`label selector ${name}`, `${configMaps}?labelSelector=${encodeURIComponent(selector)}`);
const byField = (name: string, path: string, selector: string) =>
  get(`field selector ${name}`, `${path}?fieldSelector=${encodeURIComponent(selector)}`);

/** Label and field selectors, good and bad. */
export const selectors = subject("selectors", [
  post("prepare red", configMaps, configMap("red", {}, { labels: { color: "red", size: "10" } })),
  post("prepare blue", configMaps, configMap("blue", {}, { labels: { color: "blue", "example.io/x": "" } })),
  post("prepare none", configMaps, configMap("none")),
  post("prepare a pod", pods, pod("p", {}, { labels: { app: "x" } })),
  post("prepare a bound pod", pods, pod("bound", { nodeName: "compat-node" })),
  post("prepare a node", nodes, node("compat-selectors", { unschedulable: true })),
  post("prepare a secret", secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s" },
    type: "example.io/own",
  }),
  byLabel("equal", "color=red"),
  byLabel("doubly equal", "color==red"),
  byLabel("unequal", "color!=red"),
  byLabel("in", "color in (red,blue)"),
  byLabel("notin", "color notin (red)"),
  byLabel("exists", "color"),
  byLabel("does not exist", "!color"),
  byLabel("both", "color,color!=blue"),
  byLabel("greater", "size>5"),
  byLabel("less", "size<5"),
  byLabel("empty value", "example.io/x="),
  byLabel("in the empty value", "example.io/x in ()"),
  byLabel("with blanks", "  color  =  red  "),
  byLabel("nothing", ""),
  byLabel("comma only", ","),
  byLabel("trailing comma", "color=red,"),
  byLabel("bad operator", "color~red"),
  byLabel("bad key", "-color=red"),
  byLabel("bad value", "color=not ok"),
  byLabel("bad greater", "size>big"),
  byLabel("open parenthesis", "color in (red"),
  byLabel("in without values", "color in"),
  byLabel("two equals", "color=red=blue"),
  byField("by name", configMaps, "metadata.name=red"),
  byField("by name, unequal", configMaps, "metadata.name!=red"),
  byField("by namespace", configMaps, "metadata.namespace={ns}"),
  byField("by name and label", configMaps, "metadata.name=red,metadata.namespace={ns}"),
  byField("unknown field", configMaps, "data.k=v"),
  byField("no operator", configMaps, "metadata.name"),
  byField("empty", configMaps, ""),
  byField("node name", pods, "spec.nodeName=compat-node"),
  byField("no node name", pods, "spec.nodeName="),
  byField("phase", pods, "status.phase=Pending"),
  byField("phase, unequal", pods, "status.phase!=Pending"),
  byField("unknown field of pods", pods, "spec.hostname=x"),
  byField("secret type", secrets, "type=example.io/own"),
  byField("unschedulable", nodes, "spec.unschedulable=true,metadata.name=compat-selectors"),
]);
