import { defaultMachineSettings, type MachineFacts, recordedHold } from "@millwright/controllers/reports";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  inPhase,
  itsNode,
  lastly,
  testNow,
  withVm,
} from "@millwright/controllers/testing";
import { annotationKeys, type Machine, phaseGuide } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { machineReport } from "./machine-report.ts";

const reportOf = (about: MachineFacts, problems: Parameters<typeof machineReport>[1], now: Date) =>
  machineReport(about, problems, now, recordedHold(about.machine, about));

const facts = (machine: Machine, change: Partial<MachineFacts> = {}): MachineFacts => ({
  machine,
  hasTarget: true,
  isTargetReachable: true,
  node: "missing",
  hasClass: true,
  settings: defaultMachineSettings,
  ...change,
});
const since = "2026-01-01T00:05:00Z";

describe("machineReport", () => {
  it("has everything about a machine in one place", () => {
    const machine = aMachine(withVm, inPhase("Running", since), lastly("Create", "Successful", "joined"), {
      status: { history: [{ time: since, operation: "Create", outcome: "Successful", message: "joined" }] },
    });
    const owners = { set: aMachineSet(), deployment: aMachineDeployment() };
    const report = reportOf(facts(machine, { node: itsNode(), ...owners }), [], testNow);
    expect(report).toMatchObject({
      name: "machine",
      namespace: "shoot--test",
      phase: "Running",
      since,
      machineSet: "set",
      machineDeployment: "pool",
      machineClass: { name: "small", exists: true },
      providerId: "vm-1",
      node: { name: "node", state: "present" },
      lastOperation: { description: "joined" },
      history: [{ outcome: "Successful" }],
      problems: [],
      next: { controller: phaseGuide.Running.controller, person: phaseGuide.Running.person },
    });
    expect(report.conditions.map(({ type }) => type)).toContain("Ready");
    expect(report.next).not.toHaveProperty("deadline");
  });

  it("promises no time to a machine whose class is rejected, and its timeout to one whose driver fails with the same code", () => {
    const failed = (description: string) =>
      aMachine(inPhase("CrashLoopBackOff", since), {
        status: { lastOperation: { type: "Create", state: "Failed", errorCode: "InvalidArgument", description } },
      });
    const deadlineOf = (machine: Machine) => reportOf(facts(machine), [], testNow).next.deadline?.effect;
    expect(deadlineOf(failed('MachineClass "small": providerSpec.zone: is required'))).toBeUndefined();
    const ofDriver = "Cloud provider message - machine codes error: code = [InvalidArgument] message = [no such zone]";
    expect(deadlineOf(failed(ofDriver))).toBe("the machine becomes Failed");
  });

  it("names the taints of the node of a Running machine that its template does not have, and that are not shown otherwise", () => {
    const taint = (key: string, effect: string, value = "") => ({ key, value, effect });
    const taints = [
      taint("dedicated", "NoExecute", "gpu"),
      taint("readiness.k8s.io/cni", "NoSchedule", "pending"),
      taint("example.com/listed", "NoSchedule"),
      taint("tier", "NoSchedule"),
      taint("tier", "NoExecute"),
      taint("soft", "PreferNoSchedule"),
      ...["unschedulable", "not-ready", "unreachable"].map((name) => taint(`node.kubernetes.io/${name}`, "NoSchedule")),
      taint("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ];
    const ofTemplate = [taint("tier", "NoSchedule", "web"), taint("readiness.k8s.io/cni", "NoSchedule", "pending")];
    const machine = aMachine(withVm, inPhase("Running"), { spec: { nodeTemplate: { spec: { taints: ofTemplate } } } });
    const listing = annotated({ [annotationKeys.startupTaints]: "example.com/listed" });
    const taintsOf = (about: Machine, node: MachineFacts["node"] = itsNode({ spec: { taints } })) =>
      reportOf(facts(about, { node }), [], testNow).taints?.map(({ kind, taint: text }) => `${kind} ${text}`);
    expect(taintsOf(aMachine(machine, listing))).toEqual([
      "Startup readiness.k8s.io/cni=pending:NoSchedule",
      "Startup example.com/listed:NoSchedule",
      "Foreign dedicated=gpu:NoExecute",
      "Foreign tier:NoExecute",
      "Foreign node.kubernetes.io/memory-pressure:NoSchedule",
    ]);
    expect(taintsOf(machine)).toContain("Foreign example.com/listed:NoSchedule");
    expect(taintsOf(machine, itsNode({ spec: { taints: ofTemplate.slice(0, 1) } }))).toBeUndefined();
    expect(taintsOf(machine, "unread")).toBeUndefined();
    expect(taintsOf(aMachine(machine, inPhase("Pending")))).toBeUndefined();
  });

  it("leaves out what there is not", () => {
    const report = reportOf(facts(aMachine({ spec: { class: null } }), { hasClass: false }), [], testNow);
    expect(report).toMatchObject({
      phase: "",
      machineClass: { name: "", exists: false },
      providerId: "",
      node: { name: "", state: "missing" },
      history: [],
    });
    for (const field of ["since", "machineSet", "machineDeployment", "lastOperation"])
      expect(report).not.toHaveProperty(field);
  });

  it.each<[Partial<MachineFacts>, string]>([
    [{ hasTarget: false }, "none"],
    [{ isTargetReachable: false, node: "unread" }, "unreachable"],
    [{}, "missing"],
    [{ node: itsNode() }, "present"],
  ])("reports the state of the node: %#", (change, state) => {
    expect(reportOf(facts(aMachine(withVm), change), [], testNow).node).toEqual({ name: "node", state });
  });

  const preserved = { status: { currentStatus: { preserveExpiryTime: "2026-01-02T00:00:00Z" } } };
  it.each<[string, Machine, string | undefined]>([
    ["that comes up", aMachine(), "2026-01-01T00:20:00Z the machine becomes Failed"],
    [
      "that waits for its node",
      aMachine(inPhase("Pending"), { spec: { creationTimeout: "1h" } }),
      "2026-01-01T01:00:00Z the machine becomes Failed",
    ],
    [
      "that is unhealthy",
      aMachine(inPhase("Unknown", since)),
      "2026-01-01T00:15:00Z the machine becomes Failed if it may be replaced",
    ],
    [
      "that may be unhealthy for ever",
      aMachine(inPhase("Unknown", since), { spec: { disableHealthTimeout: true } }),
      undefined,
    ],
    [
      "that has been unhealthy since an unknown time",
      aMachine({ status: { currentStatus: { phase: "Unknown" } } }),
      undefined,
    ],
    ["that is updated", aMachine(inPhase("InPlaceUpdating", since)), "2026-01-01T00:25:00Z the update fails"],
    ["that is Failed", aMachine(inPhase("Failed", since)), undefined],
    [
      "that is Failed and preserved",
      aMachine(inPhase("Failed", since), preserved),
      "2026-01-02T00:00:00Z the machine is replaced",
    ],
    ["that goes", aMachine(inPhase("Running"), beingDeleted(since)), "2026-01-01T02:05:00Z remaining pods are deleted"],
    ["that is terminating since an unknown time", aMachine(inPhase("Terminating")), undefined],
    ["that runs", aMachine(inPhase("Running")), undefined],
  ])("names the time at which the phase ends by itself, of a machine %s", (_, machine, expected) => {
    const { deadline } = reportOf(facts(machine), [], testNow).next;
    expect(deadline === undefined ? undefined : `${deadline.time} ${deadline.effect}`).toBe(expected);
  });

  it("reports that an invalid spec has to be fixed before anything else happens, except a deletion", () => {
    const problems = [{ path: "spec.class.name", message: "is required", kind: "required" as const }];
    expect(reportOf(facts(aMachine()), problems, testNow)).toMatchObject({
      problems,
      next: { controller: "No VM is created while the spec is invalid." },
    });
    const going = reportOf(facts(aMachine(beingDeleted())), problems, testNow);
    expect(going.next.controller).toBe(phaseGuide.Terminating.controller);
  });

  it("keeps an unknown phase", () => {
    const report = reportOf(facts(aMachine({ status: { currentStatus: { phase: "Hibernating" } } })), [], testNow);
    expect(report.phase).toBe("Hibernating");
    expect(report.next.controller).toContain("does not support the phase");
  });
});

describe("the report about a protected machine", () => {
  const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });

  it("has the reason why it is kept, and the remedy, only while it is being deleted", () => {
    const report = reportOf(facts(aMachine(beingDeleted(), isKept)), [], testNow);
    expect(report.deletionPaused).toMatch(/^Deletion paused: Machine machine is protected/);
    expect(report.next.person).toBe(
      "To delete it, remove annotation machine.millwright.dev/deletion-protection from Machine machine.",
    );
    expect(reportOf(facts(aMachine(isKept)), [], testNow).deletionPaused).toBeUndefined();
  });

  it("names the deployment with which it is deleted", () => {
    const owners = { set: aMachineSet(), deployment: aMachineDeployment(isKept, beingDeleted()) };
    const { deletionPaused } = reportOf(facts(aMachine(beingDeleted()), owners), [], testNow);
    expect(deletionPaused).toContain("MachineDeployment pool is protected");
  });
});

describe("the report about a machine whose deletion is held", () => {
  const held = lastly("Delete", "Processing", "Deletion held for approval: too many machines");
  const kept = aMachine(withVm, inPhase("Running"), beingDeleted(), held);

  it.each<[string, Partial<MachineFacts>]>([
    ["deployment pool", { set: aMachineSet(), deployment: aMachineDeployment() }],
    ["set set", { set: aMachineSet() }],
    ["machine machine", {}],
  ])("has the message, and approves by %s", (approver, owners) => {
    const { deletionPaused, next } = reportOf(facts(kept, owners), [], testNow);
    expect(deletionPaused).toBe("Deletion held for approval: too many machines");
    expect(next.controller).toMatch(/^Nothing: VM, node and object are kept/);
    expect(next.person).toContain(`run "millwright approve ${approver}"`);
    expect(next.deadline).toBeUndefined();
  });

  it("is as for others once the deletion goes on, or where nothing is deleted", () => {
    const drained = aMachine(withVm, inPhase("Terminating"), beingDeleted(), lastly("Delete", "Processing", "Drain"));
    for (const machine of [drained, aMachine(withVm, inPhase("Running"), held)])
      expect(reportOf(facts(machine), [], testNow).deletionPaused).toBeUndefined();
  });

  it("shows message and remedy of any hold", () => {
    const hold = {
      by: "maintenance",
      holds: "deletion",
      message: "Deletion paused",
      remedy: "Remove label a",
    } as const;
    const { deletionPaused, next } = machineReport(facts(aMachine(withVm, beingDeleted())), [], testNow, hold);
    expect([deletionPaused, next.person]).toEqual([hold.message, `${hold.remedy}.`]);
  });
});
