import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, annotated } from "../../testing/builders.ts";
import { drainRulesOf } from "./drain-rules.ts";
import { drainRuleEvents } from "./drain-status-update.ts";

const key = "machine.millwright.dev/drain-rules";
const machine = (text?: string) => aMachine(...(text === undefined ? [] : [annotated({ [key]: text })])).metadata;
const machineClass = (text: string) => ({ ...aMachineClass().metadata, annotations: { [key]: text } });

describe("the rules of a drain", () => {
  it("are empty when there is no annotation", () => {
    expect(drainRulesOf(machine(), undefined)).toEqual({ rules: [] });
    expect(drainRulesOf(machine(), aMachineClass().metadata)).toEqual({ rules: [] });
  });

  it("are those of the machine, else those of its class", () => {
    const ofClass = machineClass('[{"order":1}]');
    expect(drainRulesOf(machine(), ofClass).rules).toEqual([{ behavior: "Drain", order: 1 }]);
    expect(drainRulesOf(machine('[{"behavior":"Skip"}]'), ofClass).rules).toEqual([{ behavior: "Skip", order: 0 }]);
    expect(drainRulesOf(machine("[]"), ofClass)).toEqual({ rules: [] });
  });

  it("are ignored, and reported with object and field, when they cannot be read", () => {
    const { rules, problem } = drainRulesOf(machine("{"), machineClass("[{}]"));
    expect(rules).toEqual([]);
    expect(problem).toMatch(/^Machine "machine": metadata\.annotations\[machine\.millwright\.dev\/drain-rules\]/);
    expect(drainRulesOf(machine(), machineClass("{")).problem).toMatch(/^MachineClass "small": /);
  });

  it("are reported once", () => {
    const reasons = drainRuleEvents({ drainRulesProblem: "bad", reported: new Map() });
    expect(reasons).toEqual([{ type: "Warning", reason: "InvalidDrainRules", message: "bad" }]);
    expect(drainRuleEvents({ drainRulesProblem: "bad", reported: new Map([["InvalidDrainRules", "bad"]]) })).toEqual(
      [],
    );
    expect(drainRuleEvents({ drainRulesProblem: "bad", reported: new Map([["NodeClaimedTwice", "bad"]]) })).toEqual(
      reasons,
    );
    expect(drainRuleEvents({ drainRulesProblem: undefined, reported: new Map() })).toEqual([]);
  });
});
