import { describe, expect, it } from "vitest";
import { findDifferences } from "./compare-exchange.ts";
import { knownDifferences } from "./known-differences.ts";

const root = "https://www.googleapis.com/compute/v1/projects/p/zones/europe-west1-b";
const json = { "content-type": "application/json; charset=UTF-8" };

const aRequest = (method: string, path: string, body = "") => ({
  method,
  url: new URL(`/compute/v1/projects/p/zones/europe-west1-b/${path}`, "http://emulator.invalid"),
  headers: {},
  body,
  signal: new AbortController().signal,
});

/** The differences of a request to insert an instance. */
const ofInsertion = (instance: unknown, query = "") =>
  findDifferences({
    operation: "instances.insert",
    request: aRequest("POST", `instances${query}`, JSON.stringify(instance)),
    reply: undefined,
  });

/** The differences of the response for an instance. */
const ofInstance = (instance: unknown, status = 200, headers: Readonly<Record<string, string>> = json) =>
  findDifferences({
    operation: "instances.get",
    request: aRequest("GET", "instances/m"),
    reply: { status, headers, body: typeof instance === "string" ? instance : JSON.stringify(instance) },
  });

const sent = {
  name: "m",
  machineType: "zones/europe-west1-b/machineTypes/n2-standard-2",
  labels: { a: "b" },
  disks: [{ boot: true, type: "PERSISTENT", initializeParams: { diskSizeGb: "50" } }],
  scheduling: { provisioningModel: "SPOT" },
};
const shown = {
  kind: "compute#instance",
  id: "7000000000000000001",
  name: "m",
  status: "RUNNING",
  zone: root,
  machineType: `${root}/machineTypes/n2-standard-2`,
  selfLink: `${root}/instances/m`,
};

describe("Google's model of Compute Engine", () => {
  it("accepts a valid request and response", () => {
    expect(ofInsertion(sent, "?requestId=0c0ffee0-0000-4000-8000-000000000001")).toEqual([]);
    expect(ofInsertion({ ...sent, disks: [{ initializeParams: { diskSizeGb: 50 } }] })).toEqual([]);
    expect(ofInstance(shown)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ["an unknown field", { ...sent, machinetype: "x" }, "instanceResource.machinetype: is not a field of Instance"],
    [
      "an unknown field of a part",
      { ...sent, scheduling: { preemptable: true } },
      "instanceResource.scheduling.preemptable: is not a field of Scheduling",
    ],
    ["a text for a number", { ...sent, disks: [{ index: "1" }] }, "instanceResource.disks[0].index: must be a number"],
    [
      "a number that is too large",
      { ...sent, disks: [{ index: 2 ** 31 }] },
      "disks[0].index: is out of the range of int32",
    ],
    ["a text for a boolean", { ...sent, canIpForward: "true" }, "instanceResource.canIpForward: must be true or false"],
    ["one in place of a list", { ...sent, disks: {} }, "instanceResource.disks: must be a list"],
    ["null", { ...sent, description: null }, "instanceResource.description: must be a text"],
    [
      "a value that an enum does not have",
      { ...sent, scheduling: { provisioningModel: "CHEAP" } },
      "instanceResource.scheduling.provisioningModel: must be one of FLEX_START, RESERVATION_BOUND, SPOT, STANDARD",
    ],
    [
      "the unset value of an enum",
      { ...sent, scheduling: { provisioningModel: "UNDEFINED_PROVISIONING_MODEL" } },
      "must be one of FLEX_START",
    ],
    [
      "a type of another zone",
      { ...sent, machineType: "zones/us-central1-a/machineTypes/n2-standard-2" },
      "instanceResource.machineType: must be an address zones/europe-west1-b/machineTypes/…, not",
    ],
    ["the mere name of a type", { ...sent, machineType: "n2-standard-2" }, "instanceResource.machineType: must be an"],
    [
      "a subnetwork of another region",
      { ...sent, networkInterfaces: [{ subnetwork: "regions/us-central1/subnetworks/nodes" }] },
      "subnetwork: must be an address regions/europe-west1/subnetworks/…",
    ],
    ["the key of a label", { ...sent, labels: { A: "b" } }, "instanceResource.labels.A: must be the key of a label"],
    [
      "the value of a label",
      { ...sent, labels: { a: "B" } },
      "instanceResource.labels.a: must be the value of a label",
    ],
    ["a name", { ...sent, name: "-m" }, "instanceResource.name: must be a name of RFC 1035"],
  ])("reports %s in a request", (_, instance, difference) => {
    expect(ofInsertion(instance)).toEqual([expect.stringContaining(difference)]);
  });

  it.each<[string, string, string]>([
    ["an unknown parameter", "?requestID=x", "request requestID: is not a field of InsertInstanceRequest"],
    ["a parameter of the path", "?zone=x", "request zone: is not a parameter of the query"],
    ["a request id that is no UUID", "?requestId=x", "request requestId: must be a UUID"],
  ])("reports %s", (_, query, difference) => {
    expect(ofInsertion(sent, query)).toEqual([expect.stringContaining(difference)]);
  });

  it("reports an unknown method, path and body", () => {
    const ofGet = (method: string, path: string, body = "") =>
      findDifferences({ operation: "instances.get", request: aRequest(method, path, body), reply: undefined });
    expect(ofGet("POST", "instances/m")).toEqual([expect.stringContaining("is not GET")]);
    expect(ofGet("GET", "instances/m/x")).toEqual([expect.stringContaining("is not GET")]);
    expect(ofGet("GET", "instances/m", '{"a":1}')).toEqual([expect.stringContaining("must not have a body")]);
    const request = aRequest("POST", "instances", "{");
    expect(findDifferences({ operation: "instances.insert", request, reply: undefined })).toContain(
      "request : is not JSON",
    );
    expect(findDifferences({ operation: "", request, reply: undefined })).toEqual([
      expect.stringContaining("is not a method of Compute Engine"),
    ]);
  });

  it.each<[string, object, string]>([
    ["an unknown field", { ...shown, state: "RUNNING" }, "answer state: is not a field of Instance"],
    ["an unknown status", { ...shown, status: "BROKEN" }, "answer status: must be one of DEPROVISIONING, PENDING"],
    ["a number of 64 bits that is no text", { ...shown, id: 7 }, "answer id: must be a text of digits (uint64)"],
    ["another kind", { ...shown, kind: "compute#disk" }, "answer kind: must be compute#instance"],
    [
      "an address that is not in full",
      { ...shown, selfLink: "zones/europe-west1-b/instances/m" },
      "answer selfLink: must be",
    ],
    ["a time", { ...shown, creationTimestamp: "today" }, "answer creationTimestamp: must be a time of RFC 3339"],
  ])("reports %s in a response", (_, instance, difference) => {
    expect(ofInstance(instance)).toEqual([expect.stringContaining(difference)]);
  });

  it("reports errors that are not in Google's format, and responses that are not JSON", () => {
    const error = { code: 404, message: "none", errors: [{ message: "none", domain: "global", reason: "notFound" }] };
    expect(ofInstance({ error }, 404)).toEqual([]);
    expect(ofInstance({ error }, 403)).toEqual(["answer error.code: must be the status 403"]);
    expect(ofInstance({ error: { ...error, errors: [] } }, 404)).toEqual(["answer error.errors: must be a list"]);
    expect(ofInstance({ error: "none" }, 404)).toEqual(["answer error: must be an object"]);
    expect(ofInstance(shown, 200, {})).toEqual(["answer : must be JSON"]);
    expect(ofInstance("<html>")).toContain("answer : is not JSON");
  });

  it("does not cover the token services and the metadata server", () => {
    const request = aRequest("POST", "x", "y");
    for (const operation of ["oauth2.token", "sts.token", "metadata.token"]) {
      expect(findDifferences({ operation, request, reply: undefined })).toEqual([]);
    }
  });

  it("accepts a known difference: the SDK sends an empty text as body", () => {
    const request = aRequest("POST", "operations/o/wait", '""');
    expect(findDifferences({ operation: "zoneOperations.wait", request, reply: undefined })).toEqual([]);
    expect(knownDifferences.map(({ operation }) => operation)).toEqual(["zoneOperations.wait"]);
  });
});
