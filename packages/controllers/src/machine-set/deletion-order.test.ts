import { annotationKeys, type Machine, type MachinePhase } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachine, annotated, beingDeleted, type Change, createdAt, inPhase, named } from "../testing/builders.ts";
import { inDeletionOrder, selectForDeletion } from "./deletion-order.ts";

const now = new Date("2026-01-02T00:00:00Z");
const past = "2026-01-01T23:00:00Z";
const soon = "2026-01-02T01:00:00Z";
const later = "2026-01-02T02:00:00Z";

const machine = (name: string, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(named(name), inPhase("Running"), ...changes);
const priority = (value: string) => annotated({ [annotationKeys.machinePriority]: value });
const mark = (at: string) => annotated({ [annotationKeys.markedForDeletionTime]: at });
const preserved = (until: string) => ({ status: { currentStatus: { preserveExpiryTime: until } } });
const autoPreserved = annotated({ [annotationKeys.preserve]: "auto-preserved" });

/** The names in deletion order. The machines are handed in backwards, so that the original order is never the right one. */
const orderOf = (...machines: readonly Machine[]): string =>
  inDeletionOrder(machines.toReversed(), now)
    .map(({ metadata }) => metadata.name)
    .join(" ");

describe("inDeletionOrder", () => {
  it("puts what people asked for before health", () => {
    expect(
      orderOf(
        machine("priority", priority("1")),
        machine("marked-early", mark("2026-01-01T00:00:00Z")),
        machine("marked-late-failed", mark("2026-01-01T01:00:00Z"), inPhase("Failed")),
        machine("marked-late-running", mark("2026-01-01T01:00:00Z")),
        machine("failed", inPhase("Failed")),
        machine("running"),
        machine("important", priority("7"), inPhase("Failed")),
      ),
    ).toBe("priority marked-early marked-late-failed marked-late-running failed running important");
  });

  it("keeps a machine that was created with the id of its VM like a Running one, until it is Failed", () => {
    const given = { spec: { providerID: "vm" } };
    const intent = annotated({ [annotationKeys.creationIntent]: JSON.stringify({ attempt: 1, class: "small" }) });
    const renamed = annotated({
      [annotationKeys.creationIntent]: JSON.stringify({ attempt: 1, class: "small" }),
      [annotationKeys.vmName]: "other",
    });
    const young = createdAt(now.toISOString());
    expect(
      orderOf(
        machine("given", given, inPhase("Pending"), young),
        machine("given-new", given, inPhase(""), young),
        machine("given-unknown", given, inPhase("CrashLoopBackOff"), young),
        machine("given-failed", given, inPhase("Failed"), young),
        machine("renamed", given, renamed, inPhase("Pending"), young),
        machine("made", given, intent, inPhase("Pending"), young),
        machine("pending", inPhase("Pending"), young),
        machine("running"),
      ),
    ).toBe("given-failed made pending running given given-new given-unknown renamed");
  });

  it("deletes those first that have served for the shortest time where they do not count before some time", () => {
    const since = (lastUpdateTime: string) => ({ status: { currentStatus: { lastUpdateTime } } });
    const machines = [
      machine("unimportant", priority("1"), since("2026-01-01T00:00:00Z")),
      machine("pending", inPhase("Pending"), since("2026-01-01T00:00:00Z")),
      machine("back", since("2026-01-01T23:59:00Z"), createdAt("2026-01-01T10:00:00Z")),
      machine("new", since("2026-01-01T20:00:00Z"), createdAt("2026-01-01T12:00:00Z")),
      machine("newer", since("2026-01-01T20:00:00Z"), createdAt("2026-01-01T13:00:00Z")),
      machine("old", since("2026-01-01T00:00:00Z"), createdAt("2026-01-01T00:00:00Z")),
    ];
    const names = inDeletionOrder(machines.toReversed(), now, true).map(({ metadata }) => metadata.name);
    expect(names.join(" ")).toBe("unimportant pending back new newer old");
    expect(orderOf(...machines)).toBe("unimportant pending old back new newer");
  });

  it("goes from broken to serving phases and spares machines in the middle of something", () => {
    const phases: readonly MachinePhase[] = [
      "Terminating",
      "Failed",
      "InPlaceUpdateFailed",
      "CrashLoopBackOff",
      "Unknown",
      "Pending",
      "InPlaceUpdating",
      "Available",
      "Running",
    ];
    expect(orderOf(...phases.map((phase) => machine(phase.toLowerCase(), inPhase(phase))))).toBe(
      phases.map((phase) => phase.toLowerCase()).join(" "),
    );
  });

  it.each<[string, MachinePhase, MachinePhase]>([
    ["a machine that is being created with Pending", "", "Pending"],
    ["a machine just updated in place with Running", "InPlaceUpdateSuccessful", "Running"],
  ])("ranks %s", (_, first, second) => {
    expect(orderOf(machine("a", inPhase(first)), machine("b", inPhase(second)))).toBe("a b");
    expect(orderOf(machine("a", inPhase(second)), machine("b", inPhase(first)))).toBe("a b");
  });

  it("judges a phase that it does not know like Unknown", () => {
    const odd = machine("odd", { status: { currentStatus: { phase: "Hibernating" } } });
    expect(orderOf(machine("a", inPhase("CrashLoopBackOff")), odd, machine("z", inPhase("Pending")))).toBe("a odd z");
  });

  it("treats a deletion timestamp as Terminating, whatever the phase", () => {
    expect(orderOf(machine("going", beingDeleted()), machine("failed", inPhase("Failed")))).toBe("going failed");
  });

  it("keeps preserved machines to the last, even Failed ones of low priority", () => {
    expect(orderOf(machine("plain"), machine("kept", preserved(soon), inPhase("Failed"), priority("1")))).toBe(
      "plain kept",
    );
  });

  it("deletes automatically preserved machines before explicitly preserved ones, and earlier expiry first", () => {
    expect(
      orderOf(
        machine("auto-soon", preserved(soon), autoPreserved),
        machine("auto-later", preserved(later), autoPreserved),
        machine("soon", preserved(soon)),
        machine("later", preserved(later)),
      ),
    ).toBe("auto-soon auto-later soon later");
  });

  it("does not count a preservation that has expired", () => {
    expect(orderOf(machine("failed", preserved(past), inPhase("Failed")), machine("running"))).toBe("failed running");
  });

  it.each(["", "low", "1.5", "0x1", " 1"])("reads the priority %j as the default", (value) => {
    expect(orderOf(machine("a", priority("2")), machine("b", priority(value)), machine("c", priority("4")))).toBe(
      "a b c",
    );
  });

  it("reads a mark that is no time as none", () => {
    expect(orderOf(machine("marked", mark(past)), machine("no-time", mark("yesterday")), machine("unmarked"))).toBe(
      "marked no-time unmarked",
    );
  });

  it("deletes older machines first, and by name last", () => {
    expect(
      orderOf(
        machine("no-age", { metadata: { creationTimestamp: null } }),
        machine("old", createdAt("2025-01-01T00:00:00Z")),
        machine("a"),
        machine("b"),
      ),
    ).toBe("no-age old a b");
  });

  it("is a total order: any permutation gives the same result", () => {
    const someMachines = fc
      .array(
        fc.record({
          phase: fc.constantFrom<MachinePhase>("", "Pending", "Running", "Failed", "InPlaceUpdating", "Terminating"),
          priority: fc.constantFrom("1", "3", "-2", "x"),
          mark: fc.constantFrom(past, soon, "x"),
          expiry: fc.constantFrom(past, soon, later, undefined),
          isAuto: fc.boolean(),
          age: fc.constantFrom("2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        }),
        { minLength: 2, maxLength: 7 },
      )
      .map((kinds) =>
        kinds.map((kind, index) =>
          machine(
            `m${index}`,
            inPhase(kind.phase),
            priority(kind.priority),
            mark(kind.mark),
            kind.expiry === undefined ? {} : preserved(kind.expiry),
            kind.isAuto ? autoPreserved : {},
            createdAt(kind.age),
          ),
        ),
      );
    const permuted = someMachines.chain((machines) =>
      fc.tuple(fc.constant(machines), fc.shuffledSubarray(machines, { minLength: machines.length })),
    );
    fc.assert(
      fc.property(permuted, ([machines, shuffled]) => {
        const sorted = inDeletionOrder(machines, now);
        expect(inDeletionOrder(shuffled, now)).toEqual(sorted);
        // Adding machines never changes the order of the others.
        expect(inDeletionOrder(sorted.slice(1), now)).toEqual(sorted.slice(1));
      }),
    );
  });
});

it("selects a machine with the VM of another one first, whatever its priority", () => {
  const machines = [machine("real", priority("1")), machine("copy", priority("99")), machine("other")];
  const belongsToOther = ({ metadata }: Machine): boolean => metadata.name === "copy";
  const select = (count: number) =>
    selectForDeletion(machines, count, () => true, now, { belongsToOther }).map(({ metadata }) => metadata.name);
  expect([select(1), select(2)]).toEqual([["copy"], ["copy", "real"]]);
});
