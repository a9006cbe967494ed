import { entriesOf, field, isArray, isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";
import { quoted } from "../json/quoting.ts";
import { badRequest } from "../errors/status-error.ts";
import { type ClusterFault, clusterFaultKinds } from "./cluster-fault.ts";

const longestMs = 3_600_000;
const shortestMs = 50;

/** Reads a cluster fault from a request body. Throws 400 with the field and what is expected. */
export function readClusterFault(body: Json | undefined): ClusterFault {
  if (!isObject(body))
    throw badRequest('cluster fault: expected an object such as {"kind":"kubelet-stops","nodes":["worker-1"]}');
  const kind = stringAt(body, "kind") ?? "";
  const known = clusterFaultKinds.find((candidate) => candidate === kind);
  if (known === undefined) throw wrong("kind", field(body, "kind"), `one of ${clusterFaultKinds.join(", ")}`);
  switch (known) {
    case "kubelet-stops":
    case "never-joins":
    case "not-ready":
      return { kind: known, ...ofNodes(body, []) };
    case "node-flaps":
      return { kind: known, everyMs: duration(body), ...ofNodes(body, ["everyMs"]) };
    case "node-condition": {
      const type = stringAt(body, "type") ?? "";
      if (type === "" || type === "Ready")
        throw wrong("type", field(body, "type"), "the type of a condition other than Ready");
      const status = field(body, "status") ?? "True";
      if (status !== "True" && status !== "False" && status !== "Unknown") {
        throw wrong("status", status, '"True", "False" or "Unknown"');
      }
      const reason = optionalText(body, "reason");
      const message = optionalText(body, "message");
      return {
        kind: known,
        type,
        status,
        ...(reason === undefined ? {} : { reason }),
        ...(message === undefined ? {} : { message }),
        ...ofNodes(body, ["type", "status", "reason", "message"]),
      };
    }
    case "garbage-collector-stops":
      rejectUnknown(body, ["kind"]);
      return { kind: known };
    case "never-detaches":
    case "never-attaches": {
      const volumes = optionalTexts(body, "volumes");
      return { kind: known, ...(volumes === undefined ? {} : { volumes }), ...ofNodes(body, ["volumes"]) };
    }
    case "pod-never-ends":
    case "pod-never-starts":
    case "pod-not-ready":
      return { kind: known, ...ofPods(body, []) };
    case "pod-flaps":
      return { kind: known, everyMs: duration(body), ...ofPods(body, ["everyMs"]) };
  }
}

function ofNodes(body: JsonObject, more: readonly string[]): { readonly nodes?: readonly string[] } {
  rejectUnknown(body, ["kind", "nodes", ...more]);
  const nodes = optionalTexts(body, "nodes");
  return nodes === undefined ? {} : { nodes };
}

function ofPods(body: JsonObject, more: readonly string[]) {
  rejectUnknown(body, ["kind", "namespaces", "names", "labels", ...more]);
  const namespaces = optionalTexts(body, "namespaces");
  const names = optionalTexts(body, "names");
  const labels = optionalLabels(field(body, "labels"));
  return {
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(names === undefined ? {} : { names }),
    ...(labels === undefined ? {} : { labels }),
  };
}

function duration(body: JsonObject): number {
  const value = field(body, "everyMs");
  if (typeof value === "number" && value >= shortestMs && value <= longestMs) return value;
  throw wrong("everyMs", value, `a number of milliseconds from ${shortestMs} to ${longestMs}`);
}

function optionalText(body: JsonObject, key: string): string | undefined {
  const value = field(body, key);
  if (value === undefined || typeof value === "string") return value;
  throw wrong(key, value, "a string");
}

function optionalTexts(body: JsonObject, key: string): readonly string[] | undefined {
  const value = field(body, key);
  if (value === undefined) return undefined;
  const texts = isArray(value) ? value.filter((item) => typeof item === "string") : [];
  if (!isArray(value) || texts.length < value.length || texts.length === 0) {
    throw wrong(key, value, "a list of names; leave it out to mean all");
  }
  return texts;
}

function optionalLabels(value: Json | undefined): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw wrong("labels", value, "an object of label names and values");
  return Object.fromEntries(
    entriesOf(value).map(([name, text]) => {
      if (typeof text !== "string") throw wrong(`labels.${name}`, text, "a string");
      return [name, text];
    }),
  );
}

function rejectUnknown(body: JsonObject, known: readonly string[]): void {
  const unknown = entriesOf(body).find(([key]) => !known.includes(key));
  if (unknown !== undefined) throw badRequest(`${unknown[0]}: unknown field; expected one of ${known.join(", ")}`);
}

function wrong(path: string, value: Json | undefined, expected: string) {
  return badRequest(`${path}: Invalid value: ${value === undefined ? "nothing" : quoted(value)}: expected ${expected}`);
}
