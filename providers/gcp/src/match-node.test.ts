import { matchNodeByTemplates } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "./driver.ts";

const vm = (providerId: string) => ({ providerId, machineName: "m", nodeName: "m", addresses: [] });
const node = (providerId: string) => ({ providerId, name: "m", systemUuid: "", addresses: [] });
const { matchNode, providerIdTemplates = [] } = createGcpDriver();
const matchByTemplates = matchNodeByTemplates(providerIdTemplates);

describe("a Node is that of a VM", () => {
  it.each([
    ["gce:///p/europe-west1-b/m", "gce://p/europe-west1-b/m", "same"],
    ["gce:///p/europe-west1-b/m", "gce:///p/europe-west1-b/m", "same"],
    ["gce:///example.com:p/europe-west1-b/m", "gce://example.com:p/europe-west1-b/m", "same"],
    ["gce:///p/europe-west1-b/m", "GCE://P/europe-west1-b/M", "same"],
    // The cloud provider of an old version, and an id without a project.
    ["gce:///p/europe-west1-b/m", "gce://europe-west1-b/m", "same"],
    ["gce:///p/europe-west1-b/m", "gce:///europe-west1-b/m", "same"],
    ["gce:///p/europe-west1-b/m", "gce://p/europe-west1-b/m-1", "different"],
    ["gce:///p/europe-west1-b/m", "gce://p/europe-west1-c/m", "different"],
    ["gce:///p/europe-west1-b/m", "gce://q/europe-west1-b/m", "different"],
    ["gce:///example.com:p/europe-west1-b/m", "gce://p/europe-west1-b/m", "different"],
    ["gce:///example.com:p/europe-west1-b/m", "gce://example.org:p/europe-west1-b/m", "different"],
    ["gce:///p/europe-west1-b/m", "gce://europe-west1-c/m", "different"],
    // A project by its number may be any.
    ["gce:///p/europe-west1-b/m", "gce://123456789012/europe-west1-b/m", "unknown"],
    ["gce:///1/europe-west1-b/m", "gce://2/europe-west1-b/m", "different"],
    ["gce:///p/europe-west1-b/m", "gce://123456789012/europe-west1-c/m", "different"],
    ["gce:///p/europe-west1-b/m", "", "unknown"],
    ["", "gce://p/europe-west1-b/m", "unknown"],
    ["gce:///p/europe-west1-b/m", "aws:///p/europe-west1-b/m", "unknown"],
    ["gce:///p/europe-west1-b/m", "gce://m", "unknown"],
    ["gce:///p/europe-west1-b/m", "gce://a/p/europe-west1-b/m", "unknown"],
    ["gce:///p/europe-west1-b/m", "gce://p//m", "unknown"],
  ])("%s, %s: %s", (machine, found, expected) => {
    expect(matchNode?.(vm(machine), node(found))).toBe(expected);
  });

  it.each([
    ["gce:///p/europe-west1-b/m", "gce://p/europe-west1-b/m", "same"],
    ["gce:///p/europe-west1-b/m", "gce://123456789012/europe-west1-b/m", "same"],
    ["gce:///p/europe-west1-b/m", "gce://europe-west1-b/m", "same"],
    ["gce:///p/europe-west1-b/m", "gce://p/europe-west1-b/m-1", "different"],
    ["gce:///p/europe-west1-b/m", "gce://p/europe-west1-c/m", "different"],
    ["gce:///p/europe-west1-b/m", "", "unknown"],
    ["gce:///p/europe-west1-b/m", "gce://p//m", "unknown"],
  ])("%s, %s: %s by the templates for a driver in another process", (machine, found, expected) => {
    expect(matchByTemplates(vm(machine), node(found))).toBe(expected);
  });
});
