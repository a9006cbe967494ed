import { expect, it } from "vitest";
import { renderClass } from "./render-class.ts";

const report = {
  name: "small",
  namespace: "default",
  provider: "azure",
  secrets: ["cloud", "user-data"],
  phases: { Running: 1 },
  isHeldBack: false,
  failures: [],
  orphans: [],
  notes: [],
};
const secretsAndMachines = ["Secrets:    cloud, user-data", "Machines:   1 Running"];

it("shows VMs without machine and leftovers, since when, and when they are deleted", () => {
  const orphan = { providerId: "azure:///eu/m-1", machine: "m-1", parts: [], since: "2026-01-01T00:00:00Z" };
  const text = renderClass({
    ...report,
    orphans: [
      { ...orphan, deleteAfter: "2026-01-01T00:15:00Z" },
      { ...orphan, providerId: "azure:///eu/m-2", machine: "m-2", parts: ["NIC m-2-nic"], deleteAfter: "" },
      { ...orphan, machine: "m-3", deleteAfter: "", draining: "2026-01-01T00:15:00Z" },
      { ...orphan, machine: "m-4", deleteAfter: "", draining: "2026-01-01T00:15:00Z", deleted: "2026-01-01T00:20:00Z" },
    ],
  });
  expect(text).toBe(
    [
      "Name:       small",
      "Namespace:  default",
      "Provider:   azure",
      ...secretsAndMachines,
      "VMs without machine:",
      "  ID                            FOR MACHINE  QUARANTINED           DELETED AFTER",
      "  azure:///eu/m-1               m-1          2026-01-01T00:00:00Z  2026-01-01T00:15:00Z",
      "  azure:///eu/m-2: NIC m-2-nic  m-2          2026-01-01T00:00:00Z  never",
      "  azure:///eu/m-1               m-3          2026-01-01T00:00:00Z  its drain, since 2026-01-01T00:15:00Z",
      "  azure:///eu/m-1               m-4          2026-01-01T00:00:00Z  deleted 2026-01-01T00:20:00Z, Node remains",
      "",
    ].join("\n"),
  );
});

it("shows a class without such VMs", () => {
  expect(renderClass(report)).toBe(
    ["Name:       small", "Namespace:  default", "Provider:   azure", ...secretsAndMachines, ""].join("\n"),
  );
});

it("shows failures by code, and that calls are held back", () => {
  const failures = [{ code: "Unauthenticated", machines: 2, example: "a", message: "Waiting:\nno" }];
  const text = renderClass({ ...report, isHeldBack: true, failures });
  expect(text).toContain("Credential:  calls are held back, see the failures\n");
  expect(text).toContain("Failures:\n  2 with Unauthenticated, such as a: Waiting: no\n");
});
