import { annotationKeys, readMachine, readMachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { drainSourcesOf } from "../describe/drain-sources-of.ts";
import {
  aDeployment,
  aMachine,
  aNode,
  aSet,
  condition,
  failed,
  must,
  now,
  objectsOf,
  pool,
  since,
  small,
  template,
} from "../testing/explained-objects.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import { explain, why } from "./explain.ts";
import { flatten } from "./explanation.ts";

const textsOf = async (objects: ClusterObjects): Promise<readonly string[]> =>
  flatten((await why(pool, objects, now)).explanation).map(
    ({ kind, state, causes }) => `${kind} ${state}: ${causes.map(({ message }) => message).join(" | ")}`,
  );

describe("why", () => {
  it("shows a deployment that is as desired, and nothing below it", async () => {
    const report = await why(pool, objectsOf(), now);
    expect(report.explanation).toMatchObject({ state: "ok", causes: [], children: [] });
    expect(report.remedies).toEqual([]);
  });

  it("names a cause once, for siblings together, with attempts, deadline and command", async () => {
    const attempts =
      " (attempt 4 failed at 2026-01-01T00:09:00Z, the first at 2026-01-01T00:01:00Z; the next after 3m0s or more)";
    const blocked = condition(
      "ScalingUp",
      "False",
      "Scaling up would be blocked because last VM creation failed: ResourceExhausted: quota is used up",
    );
    const report = await why(
      pool,
      objectsOf({
        deployments: [aDeployment({ readyReplicas: 0, conditions: [{ ...blocked, status: "True" }] })],
        sets: [aSet([{ ...blocked, status: "True" }], 0)],
        machines: ["a", "b"].map((name) =>
          aMachine(name, "CrashLoopBackOff", failed("ResourceExhausted", "quota is used up", attempts)),
        ),
        nodes: [],
      }),
      now,
    );
    const all = flatten(report.explanation);
    expect(all.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
      "MachineDeployment stuck",
      "MachineSet stuck",
      "Machine stuck",
    ]);
    expect(all.flatMap(({ causes }) => causes.filter(({ message }) => message.includes("quota")))).toHaveLength(1);
    expect(all[2]).toMatchObject({
      name: "a",
      others: ["b"],
      since,
      causes: [{ reason: "ResourceExhausted", message: "quota is used up", since }],
      attempts: { count: 4, lastAt: "2026-01-01T00:09:00Z", nextAt: "2026-01-01T00:12:00Z" },
      deadline: { time: "2026-01-01T00:20:00Z", effect: "the machine becomes Failed" },
    });
    expect(report.remedies).toEqual([
      expect.objectContaining({ commands: ["kubectl edit machineclass small -n default"] }),
    ]);
  });

  it("counts failures in the history where the status has no attempts", async () => {
    const entry = { operation: "Create", outcome: "Internal" };
    const machine = aMachine("a", "CrashLoopBackOff", {
      ...failed("Internal", "bug"),
      history: [entry, { ...entry, outcome: "Unavailable" }, entry],
    });
    const { explanation } = await why(
      { kind: "Machine", name: "a" },
      objectsOf({ machines: [machine], nodes: [] }),
      now,
    );
    expect(explanation.attempts).toEqual({ count: 2, lastAt: "2026-01-01T00:09:00Z" });
  });

  it.each([
    ["Unauthenticated", "kubectl edit secret cloud -n default", "Secret"],
    ["PermissionDenied", "millwright doctor small -n default", "Secret"],
    ["InvalidArgument", "kubectl edit machineclass small -n default", undefined],
    ["Internal", "millwright describe machine a -n default", undefined],
  ])("names what helps against %s", async (code, command, child) => {
    const machine = aMachine("a", "CrashLoopBackOff", failed(code, "no"));
    const report = await why({ kind: "Machine", name: "a" }, objectsOf({ machines: [machine], nodes: [] }), now);
    expect(report.remedies.flatMap(({ commands }) => commands)).toContain(command);
    expect(report.explanation.children[0]?.kind).toBe(child);
  });

  it("names a missing class as the cause of its machines", async () => {
    const line = "MachineClass small does not exist";
    const objects = objectsOf({
      classes: [],
      deployments: [
        aDeployment({
          readyReplicas: 0,
          conditions: [condition("ScalingUp", "True", `Scaling up from 1 to 2 replicas is blocked because ${line}`)],
        }),
      ],
      machines: [aMachine("a", "CrashLoopBackOff", failed("InvalidArgument", "x"))],
      nodes: [],
    });
    expect(await textsOf(objects)).toEqual([
      "MachineDeployment stuck: Scaling up from 1 to 2 replicas",
      "MachineSet stuck: ",
      `Machine stuck: ${line}`,
      "MachineClass stuck: ",
    ]);
  });

  it("waits for a node that has not joined, with the deadline", async () => {
    const machine = must(
      readMachine({ ...aMachine("a", "Pending"), spec: { ...template("small").spec, providerID: "mock:///a" } }),
    );
    const report = await why({ kind: "Machine", name: "a" }, objectsOf({ machines: [machine], nodes: [] }), now);
    expect(report.explanation).toMatchObject({ state: "waiting", deadline: { time: "2026-01-01T00:20:00Z" } });
    expect(report.explanation.causes[0]?.message).toContain("Waiting for a Node with spec.providerID mock:///a");
  });

  const tainted = (...keys: readonly string[]) => ({
    ...aNode("a"),
    spec: { providerID: "mock:///a", taints: keys.map((key) => ({ key, effect: "NoSchedule" })) },
  });

  it("names the startup taint that a machine waits for, alone and below its deployment", async () => {
    const creation = { lastOperation: { type: "Create", state: "Processing", description: "x" } };
    const machine = must(
      readMachine({
        ...aMachine("a", "Pending", creation),
        spec: { ...template("small").spec, providerID: "mock:///a" },
      }),
    );
    const objects = objectsOf({ machines: [machine], nodes: [tainted("readiness.k8s.io/cni")] });
    const awaited = "Waiting for startup taint readiness.k8s.io/cni:NoSchedule to be removed from Node a";
    const { explanation } = await why({ kind: "Machine", name: "a" }, objects, now);
    expect(explanation).toMatchObject({ state: "waiting", deadline: { time: "2026-01-01T00:20:00Z" } });
    expect(explanation.causes[0]?.message).toContain(awaited);
    expect((await textsOf(objects)).join("\n")).toContain(awaited);
  });

  it("is not as desired while the node of a Running machine has a startup taint again", async () => {
    const objects = objectsOf({ nodes: [tainted("readiness.k8s.io/cni"), aNode("b")] });
    expect(await textsOf(objects)).toEqual([
      "MachineDeployment waiting: ",
      "MachineSet waiting: ",
      "Machine waiting: Node a has readiness.k8s.io/cni:NoSchedule. Pods without a toleration are not scheduled to it until an agent removes the taint",
    ]);
    expect((await why(pool, objects, now)).remedies[0]?.commands).toEqual(["kubectl describe node a"]);
  });

  it("names other taints that the template does not have, of a machine that is as desired", async () => {
    const objects = objectsOf({ nodes: [tainted("dedicated", "x"), aNode("b")] });
    for (const kind of ["Machine", "Node"] as const) {
      const { explanation, remedies } = await why({ kind, name: "a" }, objects, now);
      expect([explanation.state, remedies]).toEqual(["ok", []]);
      expect(explanation.causes).toEqual([
        {
          reason: "ForeignTaint",
          message: "Node a has dedicated:NoSchedule, x:NoSchedule, which its template does not have",
        },
      ]);
    }
    expect((await why(pool, objects, now)).explanation.state).toBe("ok");
  });

  it("names a mark of the cluster autoscaler that waits, and how to take it back", async () => {
    const annotations = {
      [annotationKeys.machinePriority]: "1",
      [annotationKeys.markedForDeletionTime]: "2026-01-01T00:05:00Z",
    };
    const marked = objectsOf({ machines: [aMachine("a", "Running", {}, { annotations }), aMachine("b", "Running")] });
    const { explanation } = await why({ kind: "Machine", name: "a" }, marked, now);
    expect(explanation).toMatchObject({
      state: "ok",
      causes: [{ reason: "MarkedForDeletion", since: "2026-01-01T00:05:00Z" }],
    });
    expect(explanation.causes[0]?.message).toMatch(/trigger-deletion-by-mcm of MachineDeployment pool$/);
  });

  it("names what a rollout changes in words of its own", async () => {
    const lines = ["* MachineClass small, big required", "* class.apiGroup none, x required", "* Rollout waits for it"];
    const rolling = condition("RollingOut", "True", ["Rolling out 2 not up-to-date replicas", ...lines].join("\n"));
    const objects = objectsOf({ deployments: [aDeployment({ updatedReplicas: 0, conditions: [rolling] })] });
    expect(await textsOf(objects)).toEqual([
      "MachineDeployment waiting: Rolling out 2 not up-to-date replicas; class small -> big; class.apiGroup none -> x; Rollout waits for it",
    ]);
  });

  it("names a pause once, and none of a deployment that is complete", async () => {
    const paused = condition("Paused", "True", "MachineDeployment spec.paused is set to true");
    const rolling = condition("RollingOut", "True", "Rolling out 2 not up-to-date replicas\n* Rollout is paused");
    const held = objectsOf({ deployments: [aDeployment({ updatedReplicas: 0, conditions: [paused, rolling] })] });
    expect(await textsOf(held)).toEqual([
      "MachineDeployment stuck: MachineDeployment spec.paused is set to true | Rolling out 2 not up-to-date replicas",
    ]);
    const { remedies } = await why(pool, held, now);
    expect(remedies[0]?.commands[0]).toBe(
      `kubectl patch machinedeployment pool -n default --type=merge -p '{"spec":{"paused":false}}'`,
    );
    const complete = await why(pool, objectsOf({ deployments: [aDeployment({ conditions: [paused] })] }), now);
    expect(complete.explanation.state).toBe("ok");
  });

  it.each([
    ["Frozen", "True", "kubectl annotate machinedeployment pool safety.machine.sapcloud.io/unfreeze=True -n default"],
    ["DeletionsHeld", "True", "millwright approve deployment pool -n default"],
    ["CRDsEstablished", "False", "millwright crds diff"],
    ["SpecValid", "False", "kubectl edit machinedeployment pool -n default"],
  ])("names what helps when a set is %s", async (type, status, command) => {
    const sets = [aSet([condition(type, status, "because of something")], 1)];
    const { explanation, remedies } = await why(pool, objectsOf({ sets }), now);
    expect(explanation.state).toBe("stuck");
    expect(remedies.flatMap(({ commands }) => commands)).toContain(command);
  });

  it("needs a user for a spec that is not valid, also of a deployment that is complete", async () => {
    const invalid = condition("SpecValid", "False", "maintenance-windows: the time zone Europe/Bern is unknown");
    const report = await why(pool, objectsOf({ deployments: [aDeployment({ conditions: [invalid] })] }), now);
    expect(report.explanation).toMatchObject({ state: "stuck", causes: [{ reason: "SpecValid" }] });
    expect(report.remedies).toEqual([
      {
        text: "Correct the fields that the condition names.",
        commands: ["kubectl edit machinedeployment pool -n default"],
      },
    ]);
  });

  it("names what helps against protection, and the size that is kept", async () => {
    const kept = (reason: string) => ({ ...condition("DeletionProtected", "True", "pool is protected"), reason });
    const of = async (reason: string) => {
      const deployment = aDeployment({ conditions: [kept(reason)] });
      const deployments = [{ ...deployment, metadata: { ...deployment.metadata, deletionTimestamp: since } }];
      return why(pool, objectsOf({ deployments }), now);
    };
    const { explanation, remedies } = await of("ObjectProtected");
    expect(explanation).toMatchObject({ state: "stuck", summary: "2 desired, 2 up to date, 2 ready, 2 available" });
    const key = "machine.millwright.dev/deletion-protection";
    expect(remedies[0]?.commands).toEqual([`kubectl annotate machinedeployment pool ${key}- -n default`]);
    expect((await of("MachinesProtected")).remedies[0]?.text).toContain(`remove their annotation ${key}`);
  });

  it("needs a user for a class that cannot be used and at a canary step without an end, and none at one with an end", async () => {
    const held = (hold: string) => {
      const rolling = condition("RollingOut", "True", `Rolling out 1 not up-to-date replicas\n* ${hold}`);
      return objectsOf({ deployments: [aDeployment({ updatedReplicas: 1, conditions: [rolling] })] });
    };
    const go = "machine.millwright.dev/canary-continue=2/1";
    const pause = `Rollout is paused at canary step 1 of 1 with 1 new machine: to continue, annotate the MachineDeployment with ${go}`;
    const { explanation, remedies } = await why(pool, held(pause), now);
    expect(explanation.state).toBe("stuck");
    expect(remedies[0]?.commands[0]).toBe(`kubectl annotate machinedeployment pool -n default --overwrite ${go}`);
    const broken = await why(
      pool,
      held('Rollout waits for MachineClass gone: MachineClass "gone" does not exist'),
      now,
    );
    expect(broken.explanation.state).toBe("stuck");
    expect(broken.remedies[0]?.text).toContain("Create or correct MachineClass gone");
    const timed = held("Rollout waits at canary step 1 of 2 with 1 new machine until 2026-01-01T00:20:00Z");
    expect((await why(pool, timed, now)).explanation.state).toBe("waiting");
  });

  it("has the rollout that is under way, and what it started from", async () => {
    const of = async (record: object) => {
      const deployment = aDeployment({ updatedReplicas: 1 });
      const annotations = { "machine.millwright.dev/rollout": JSON.stringify(record) };
      const annotated = { ...deployment, metadata: { ...deployment.metadata, annotations } };
      return (await why(pool, objectsOf({ deployments: [annotated] }), now)).explanation.causes;
    };
    const record = { set: "pool-b", revision: 2, proven: "pool-a", since: "2026-01-01T00:00:00Z" };
    const message = "Revision 2, MachineSet pool-b: from the proven template of MachineSet pool-a";
    expect(await of(record)).toEqual([{ reason: "Rollout", message, since: record.since }]);
    expect((await of({ ...record, passed: "1/1h" }))[0]?.message).toContain(
      "pool-b, which has passed its canary steps",
    );
    expect((await of({ ...record, proven: "pool-b" }))[0]?.message).toBe(
      "Revision 2, MachineSet pool-b: the proven template",
    );
    expect(await of({ set: 7 })).toEqual([]);
  });

  it("waits for a node that is healthy again, and looks for what many unhealthy nodes have in common", async () => {
    const unknown = (description: string) =>
      aMachine("a", "Unknown", { lastOperation: { type: "HealthCheck", state: "Processing", description } });
    const of = async (description: string, ready: string) =>
      why(
        { kind: "Machine", name: "a" },
        objectsOf({ machines: [unknown(description)], nodes: [aNode("a", ready)] }),
        now,
      );
    const stabilizing = await of("Machine a is unhealthy", "True");
    expect(stabilizing.explanation).toMatchObject({ state: "waiting", causes: [{ reason: "NodeStabilizing" }] });
    const outage = await of("Remediation paused: many machines became Unknown, which suggests an outage", "False");
    expect(outage.explanation.state).toBe("stuck");
    expect(outage.remedies[0]?.text).toContain("what the nodes have in common");
  });

  it("follows a node to its machine, and a class to its machines", async () => {
    const machine = aMachine("a", "Unknown", {
      lastOperation: { type: "HealthCheck", state: "Processing", description: "Node a is down" },
    });
    const objects = objectsOf({ machines: [machine], nodes: [aNode("a", "False"), aNode("other")] });
    const node = await why({ kind: "Node", name: "a" }, objects, now);
    expect(node.explanation).toMatchObject({
      state: "stuck",
      summary: "NotReady",
      causes: [{ reason: "Kubelet", message: "container runtime is down" }],
      children: [{ kind: "Machine", name: "a", causes: [{ message: "Node a is down" }] }],
    });
    const ofClass = await why({ kind: "MachineClass", name: "small" }, objects, now);
    expect(ofClass.explanation).toMatchObject({ state: "stuck", children: [{ kind: "Machine", name: "a" }] });
    await expect(why({ kind: "Node", name: "other" }, objects, now)).rejects.toThrow("no machine in namespace default");
    await expect(why({ kind: "Node", name: "none" }, objects, now)).rejects.toThrow('there is no Node "none"');
    await expect(why({ kind: "Node", name: "a" }, { ...objects, nodes: "unread" }, now)).rejects.toThrow(
      "nodes cannot be read",
    );
  });

  it.each([
    [
      "InvalidMachineClass",
      'MachineClass "small": spec',
      /^Correct the named fields/,
      "kubectl edit machineclass small",
    ],
    ["InvalidSecret", 'Secret of MachineClass "small": a', /^Correct the named keys of Secret/, "kubectl edit secret"],
    ["SecretNotFound", "Secret x does not exist", /^Create Secret/, "kubectl get secrets"],
    ["DriverNotFound", "provider: no driver", /^Name a loaded driver/, "kubectl edit machineclass small"],
    ["CredentialRefused", "Unauthenticated: expired", /^Write valid credentials/, "kubectl edit secret"],
    ["CredentialRefused", "PermissionDenied: no", /^Grant the missing permission/, "millwright doctor small"],
    ["ResourceExhausted", "ResourceExhausted: none left", /^Raise the quota/, "kubectl edit machineclass small"],
    ["CloudUnavailable", "Unavailable: 503", /^Nothing is needed/, "millwright doctor small"],
    ["Unheard", "of a later version", /^Fix what MachineClass small reports/, "millwright doctor small"],
  ])("has the remedy for a class that reports %s: %s", async (reason, message, text, command) => {
    const annotations = { [annotationKeys.classStatus]: reason, [annotationKeys.classStatusMessage]: message };
    const objects = objectsOf({ classes: [{ ...small, metadata: { ...small.metadata, annotations } }] });
    const { remedies } = await why({ kind: "MachineClass", name: "small" }, objects, now);
    expect(remedies).toMatchObject([
      { text: expect.stringMatching(text), commands: expect.arrayContaining([expect.stringContaining(command)]) },
    ]);
  });

  it("names what a class reports, and the keys that its driver ignores", async () => {
    const annotations = {
      [annotationKeys.classStatus]: "ResourceExhausted",
      [annotationKeys.classStatusSince]: since,
      [annotationKeys.classStatusMessage]: "no quota",
      [annotationKeys.unknownKeys]: "providerSpec.spotPrce",
    };
    const objects = objectsOf({ classes: [{ ...small, metadata: { ...small.metadata, annotations } }] });
    const note = 'MachineClass "small": its driver ignores keys that it does not know: providerSpec.spotPrce';
    const ofClass = await why({ kind: "MachineClass", name: "small" }, objects, now);
    expect(ofClass).toMatchObject({
      explanation: { state: "stuck", causes: [{ reason: "ResourceExhausted", since, message: "no quota" }] },
      remedies: [{ commands: ["millwright doctor small -n default"] }],
      notes: [note],
    });
    for (const subject of [
      { kind: "MachineDeployment", name: "pool" },
      { kind: "Machine", name: "a" },
      { kind: "Node", name: "a" },
    ] as const)
      expect((await why(subject, objects, now)).notes, subject.kind).toEqual([note]);
  });

  it("names the budget and the pods that block a drain", async () => {
    const terminating = aMachine(
      "a",
      "Terminating",
      { lastOperation: { type: "Delete", state: "Processing", description: "Initiate node drain" } },
      { deletionTimestamp: since, finalizers: ["x"] },
    );
    const machine = { ...terminating, spec: { ...terminating.spec, providerID: "mock:///a" } };
    const labels = { app: "web" };
    const drainSources = async () =>
      drainSourcesOf({
        pods: [
          {
            metadata: {
              name: "web-1",
              namespace: "shop",
              uid: "p",
              labels,
              ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "r", controller: true }],
            },
            spec: { nodeName: "a" },
            status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
          },
        ],
        budgets: [
          {
            metadata: { name: "web", namespace: "shop" },
            spec: { selector: { matchLabels: labels }, minAvailable: 1 },
            status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
          },
        ],
        claims: [],
        volumes: [],
        attachments: [],
      });
    const { explanation, remedies } = await why(
      { kind: "Machine", name: "a" },
      objectsOf({ machines: [machine], drainSources }),
      now,
    );
    expect(explanation).toMatchObject({ state: "stuck", children: [{ kind: "Node", state: "stuck" }] });
    expect(explanation.children[0]?.causes[0]?.message).toMatch(
      /^Pod shop\/web-1: .*PodDisruptionBudget shop\/web can never be met/,
    );
    expect(remedies[0]?.commands).toEqual([
      "kubectl get poddisruptionbudgets,pods -n shop",
      "kubectl label machine a force-deletion=True -n default",
    ]);
  });

  it("names a CRD that is being deleted, and recommends nothing that would lose the VM", async () => {
    const machine = aMachine("a", "Running", {}, { deletionTimestamp: since, finalizers: ["x"] });
    const readCrd = async (name: string) => ({ metadata: { name, deletionTimestamp: since } });
    const subject = { kind: "Machine", name: "a" } as const;
    const { explanation, remedies } = await why(subject, objectsOf({ machines: [machine], readCrd }), now);
    expect(explanation).toMatchObject({ state: "stuck", causes: [{ reason: "DeletionPaused" }] });
    expect(explanation.causes[0]?.message).toContain("machines.machine.sapcloud.io is being deleted");
    expect(remedies).toEqual([{ text: expect.stringContaining("To restore, save the objects"), commands: [] }]);
  });

  const approve = "millwright approve deployment pool -n default";
  it.each([
    ["Deletion held for approval: too many", [approve, `${approve} --at-a-time 3`]],
    [
      'Deletion held: its owner, MachineSet set, does not exist. To keep the VM, run "millwright restore FILE"',
      ["millwright restore FILE -n default", approve],
    ],
  ])("names a deletion that is held, what keeps the VM, and who approves it: %s", async (description, ways) => {
    const machine = aMachine(
      "a",
      "Running",
      { lastOperation: { type: "Delete", state: "Processing", description } },
      { deletionTimestamp: since, finalizers: ["x"] },
    );
    const { explanation, remedies } = await why(
      { kind: "Machine", name: "a" },
      objectsOf({ machines: [machine] }),
      now,
    );
    expect(explanation).toMatchObject({ state: "stuck", causes: [{ reason: "DeletionPaused" }] });
    expect(remedies[0]?.commands).toEqual(ways);
  });

  it("offers to restore machines whose owners do not exist before their deletion", async () => {
    const message = 'Deletion of 2 machines is held. To keep the VMs, run "millwright restore FILE"';
    const sets = [aSet([condition("DeletionsHeld", "True", message)], 1)];
    const { remedies } = await why(pool, objectsOf({ sets }), now);
    expect(remedies[0]?.commands).toEqual([
      "millwright restore FILE -n default",
      "millwright approve deployment pool -n default",
    ]);
  });
});

describe("explain", () => {
  it("shows all sets with machines from the newest on, machines that are ok together, and their nodes", async () => {
    const tree = await explain(pool, objectsOf(), now);
    expect(tree.children).toHaveLength(1);
    expect(tree.children[0]).toMatchObject({
      summary: "revision 1, 2 of 2 machines, 2 ready",
      children: [
        {
          kind: "Machine",
          name: "a",
          others: ["b"],
          state: "ok",
          children: [{ kind: "Node", name: "a", others: ["b"], summary: "Ready" }],
        },
      ],
    });
  });

  it("names a class that several machines miss once", async () => {
    const machines = ["a", "b"].map((name) => aMachine(name, "CrashLoopBackOff", failed("InvalidArgument", "x")));
    const tree = await explain(pool, objectsOf({ classes: [], machines, nodes: [] }), now);
    expect(flatten(tree).at(-1)).toMatchObject({ kind: "MachineClass", name: "small", others: [] });
    expect(flatten(tree).at(-2)).toMatchObject({ kind: "Machine", name: "a", others: ["b"] });
  });

  it("waits for a status about the current spec", async () => {
    const observed = must(
      readMachineDeployment({
        ...aDeployment({ observedGeneration: 1 }),
        metadata: { ...aDeployment().metadata, generation: 2 },
      }),
    );
    expect((await explain(pool, objectsOf({ deployments: [observed] }), now)).state).toBe("waiting");
  });

  it("reports what does not exist, and what cannot be read", async () => {
    await expect(explain({ kind: "Machine", name: "c" }, objectsOf(), now)).rejects.toThrow(
      'there is no Machine "c" in namespace default',
    );
    const notes = ['Machine "c" cannot be read: spec is wrong'];
    await expect(explain({ kind: "Machine", name: "c" }, objectsOf({ notes }), now)).rejects.toThrow("spec is wrong");
  });
});
