import { ConfigError } from "@millwright/base";
import { describe, expect, it } from "vitest";
import { matchNodeByTemplates } from "./node-match-templates.ts";

const match = matchNodeByTemplates([
  "gce:///{_}/{zone}/{name}",
  "gce://{_}/{zone}/{name}",
  "azure:///subscriptions/{_}/virtualMachines/{name}",
  "other://{id}",
]);

describe("matchNodeByTemplates", () => {
  it.each([
    ["gce:///p/z/vm-1", "gce://q/z/vm-1", "same"],
    ["gce:///p/z/vm-1", "GCE://q/Z/VM-1", "same"],
    ["gce:///p/z/vm-1", "gce://p/z/vm-2", "different"],
    ["gce:///p/z/vm-1", "gce://p/y/vm-1", "different"],
    ["gce:///p/z/vm-1", "azure:///subscriptions/1/virtualMachines/vm-1", "same"],
    ["gce:///p/z/vm-1", "azure:///subscriptions/1/virtualmachines/vm-2", "different"],
    ["gce:///p/z/vm-1", "other://vm-1", "unknown"],
    ["gce:///p/z/vm-1", "gce://z/vm-1", "unknown"],
    ["gce:///p/z/vm-1", "gce://p/z/", "unknown"],
    ["gce:///p/z/vm-1", "", "unknown"],
    ["", "gce://p/z/vm-1", "unknown"],
    ["aws:///z/i-1", "aws:///z/i-1", "unknown"],
  ])("%j and %j: %s", (vm, node, expected) => {
    expect(match({ providerId: vm }, { providerId: node })).toBe(expected);
  });

  it.each(["a://x-{name}", "a://{name", "a://{na me}", "a://{name}{zone}", "a://{}"])("rejects %j", (template) => {
    expect(() => matchNodeByTemplates([template])).toThrow(ConfigError);
  });
});
