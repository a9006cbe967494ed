import type { ListedMachine } from "@millwright/core";
import { type Machine, readMachine } from "@millwright/core/machine-api";
import { describe, expect, test } from "vitest";
import { readInto } from "../cluster/readable.ts";
import { aMachine, type Change, inPhase, named, testNamespace } from "../testing/builders.ts";
import { findOrphans } from "./find-orphans.ts";

const vm: ListedMachine = {
  providerId: "aws:///eu/i-1",
  machineName: "m",
  machineUid: "old",
  machineNamespace: testNamespace,
};
const withId = (providerID: string) => ({ spec: { providerID } });
const intent = (fields: object) => ({
  metadata: {
    annotations: {
      "machine.millwright.dev/creation-intent": JSON.stringify({
        token: "t",
        attempt: 1,
        class: "small",
        provider: "mock",
        ...fields,
      }),
    },
  },
});

describe("a VM that a machine owns", () => {
  test.each<[string, Partial<ListedMachine>, readonly Change<Machine>[]]>([
    ["has the UID of the machine", { machineUid: "uid-m" }, [named("m")]],
    ["has the UID of a machine in any phase", { machineUid: "uid-m" }, [named("m"), inPhase("Failed")]],
    [
      "has the UID of a machine that is being deleted",
      { machineUid: "uid-m" },
      [named("m"), { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, inPhase("Terminating")],
    ],
    ["is named by the provider id of another machine", {}, [named("other"), withId("AWS:///eu-1/I-1")]],
    ["was answered to the creation of another machine", {}, [named("other"), intent({ foreignVm: "aws:///eu/i-1" })]],
    ["has the name of a machine that is being created", {}, [named("m")]],
    ["has the name of a machine whose creation fails", {}, [named("m"), inPhase("CrashLoopBackOff")]],
    ["has no UID, as those of MCM", { machineUid: "" }, [named("m"), withId("aws:///eu/i-2"), inPhase("Running")]],
  ])("%s", (_, change, changes) => {
    expect(findOrphans([{ ...vm, ...change }], [aMachine(...changes)], testNamespace)).toEqual([]);
  });

  test("has the name of a machine that cannot be read", () => {
    const broken = { metadata: { name: "m", namespace: testNamespace, uid: "new" }, spec: {}, status: {} };
    expect(findOrphans([vm], [broken], testNamespace)).toEqual([]);
  });

  test("has the name of a machine whose spec cannot be read, though it runs", () => {
    const read = readInto(readMachine, (metadata): Machine => ({ metadata, spec: {} }));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is its point
    const odd = { ...aMachine(named("m"), withId("aws:///eu/i-2"), inPhase("Running")), spec: 7 as never };
    expect(findOrphans([vm], [read(odd)], testNamespace)).toEqual([]);
  });

  test("is one of another namespace", () => {
    expect(findOrphans([{ ...vm, machineNamespace: "other" }], [], testNamespace)).toEqual([]);
  });
});

describe("a VM that no machine owns", () => {
  test.each<[string, Partial<ListedMachine>, readonly Machine[]]>([
    ["there is no machine", {}, []],
    ["is of MCM, and there is none of its name", { machineUid: "", machineNamespace: "" }, [aMachine(named("other"))]],
    [
      "is that of a former machine of the same name",
      {},
      [aMachine(named("m"), withId("aws:///eu/i-2"), inPhase("Running"))],
    ],
  ])("%s", (_, change, machines) => {
    const orphan = { ...vm, ...change };
    const tagged = change.machineNamespace === "" ? { providerId: orphan.providerId, machineName: "m" } : orphan;
    expect(findOrphans([tagged], machines, testNamespace)).toEqual([tagged]);
  });
});

describe("a second VM of a machine", () => {
  const own: ListedMachine = { ...vm, providerId: "aws:///eu/i-2", machineUid: "uid-m" };
  const second: ListedMachine = { ...own, providerId: "aws:///eu/i-1" };
  const settled = [named("m"), withId("aws:///eu/i-2"), inPhase("Running")] as const;
  const orphansOf = (vms: readonly ListedMachine[], ...machines: readonly Machine[]) =>
    findOrphans(vms, machines, testNamespace);

  test("has no machine when the list has the one that the machine names", () => {
    expect(orphansOf([own, second], aMachine(...settled))).toEqual([second]);
    const ofMcm = [own, second].map(({ providerId, machineName }) => ({ providerId, machineName }));
    expect(orphansOf(ofMcm, aMachine(...settled))).toEqual([ofMcm[1]]);
  });

  test.each<[string, readonly ListedMachine[], readonly Change<Machine>[]]>([
    ["the list lacks the one that it names", [second], settled],
    ["that one is of another machine", [{ ...own, machineName: "n", machineUid: "uid-n" }, second], settled],
    ["of that one only parts are left", [{ ...own, parts: ["NIC m-nic"] }, second], settled],
    ["it names none", [own, second], [named("m"), inPhase("Running")]],
    ["it is being created", [own, second], [named("m"), withId("aws:///eu/i-2"), inPhase("CrashLoopBackOff")]],
    [
      "it is being deleted",
      [own, second],
      [...settled, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, inPhase("Terminating")],
    ],
    ["its creation was answered with it", [own, second], [...settled, intent({ foreignVm: "aws:///eu/i-1" })]],
  ])("belongs to its machine when %s", (_, vms, changes) => {
    const others = aMachine(named("n"), inPhase("Running"));
    expect(orphansOf(vms, aMachine(...changes), others)).toEqual([]);
  });

  test("belongs to another machine that names it", () => {
    const other = aMachine(named("o"), withId("aws:///eu/i-1"), inPhase("Running"));
    expect(orphansOf([own, second], aMachine(...settled), other)).toEqual([]);
  });
});
