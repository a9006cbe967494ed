import type { MatchVm } from "@millwright/controllers";
import { type Driver, matchNodeByProviderId } from "@millwright/core";
import { isDriverFor } from "@millwright/core/driver-host";
import type { Log } from "@millwright/kube";
import { cleanText, textOf } from "./driver-failure.ts";
import { runInDriverScope } from "./stray-errors.ts";

/**
 * Has the driver of a provider answer whether a Node is that of a VM; drivers without `matchNode`, and classes without a driver, get the default rule. A driver that throws, or
 * breaks the contract, counts as `unknown`, so that the name decides; it is logged once. Without the driver, different ids may still mean the same VM: that is `unknown` as well.
 */
export function createMatchVm(drivers: readonly Driver[], log: Log): MatchVm {
  const reported = new Set<string>();
  const report = (driver: Driver, error: string): "unknown" => {
    if (!reported.has(driver.name)) log("error", "matchNode of a driver failed", { driver: driver.name, error });
    reported.add(driver.name);
    return "unknown";
  };
  return (provider = "", vm, node) => {
    const driver = drivers.find((each) => isDriverFor(each, provider));
    if (driver === undefined) return matchNodeByProviderId(vm, node) === "same" ? "same" : "unknown";
    const { matchNode } = driver;
    if (matchNode === undefined) return matchNodeByProviderId(vm, node);
    try {
      const scope = { driver: driver.name, confidential: {} };
      const match: unknown = runInDriverScope(scope, () => matchNode(vm, node));
      return match === "same" || match === "different" || match === "unknown"
        ? match
        : report(driver, `returned ${typeof match}; expected "same", "different" or "unknown"`);
    } catch (error) {
      return report(driver, cleanText(textOf(error), {}));
    }
  };
}
