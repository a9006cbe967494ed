import { systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { NamedObject } from "@millwright/runtime";
import { renderClass } from "../describe/render-class.ts";
import { renderDeployment } from "../describe/render-deployment.ts";
import { renderMachine } from "../describe/render-machine.ts";
import { renderSet } from "../describe/render-set.ts";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { controlKubeConfig, type NamespaceFlags } from "../target/cluster-flags.ts";

/** Flags of `millwright describe`. */
export interface DescribeFlags extends TargetFlags, NamespaceFlags {
  readonly output: "text" | "json";
}

/** Prints the report about one machine. Reads only. */
export async function describeMachineCommand(name: string, flags: DescribeFlags): Promise<void> {
  const { describeMachine } = await import("@millwright/runtime");
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright" });
  const separate = flags.targetKubeconfig !== undefined && flags.targetKubeconfig !== "none";
  const target = separate
    ? createApiClient(await loadTargetConfig(flags), {
        userAgent: "millwright",
      })
    : control;
  try {
    const report = await describeMachine({
      control,
      ...(flags.targetKubeconfig === "none" ? {} : { target }),
      namespace: flags.namespace ?? config.namespace ?? "default",
      name,
      clock: systemClock,
      signal: untilStopSignal(),
    });
    const text =
      flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : renderMachine(report, systemClock.now());
    process.stdout.write(text);
  } finally {
    await Promise.all([control.close(), ...(separate ? [target.close()] : [])]);
  }
}

type GroupFlags = NamespaceFlags & Pick<DescribeFlags, "output">;

/** Reads about one object of the control cluster, and prints it. */
async function printReport<T>(
  name: string,
  flags: GroupFlags,
  describe: (what: NamedObject) => Promise<T>,
  render: (report: T) => string,
): Promise<void> {
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright" });
  try {
    const namespace = flags.namespace ?? config.namespace ?? "default";
    const report = await describe({ control, namespace, name, signal: untilStopSignal() });
    process.stdout.write(flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : render(report));
  } finally {
    await control.close();
  }
}

/** Prints the report about one deployment. Reads only. */
export async function describeDeploymentCommand(name: string, flags: GroupFlags): Promise<void> {
  const { describeDeployment } = await import("@millwright/runtime");
  await printReport(name, flags, describeDeployment, renderDeployment);
}

/** Prints the report about one set. Reads only. */
export async function describeSetCommand(name: string, flags: GroupFlags): Promise<void> {
  const { describeSet } = await import("@millwright/runtime");
  await printReport(name, flags, describeSet, renderSet);
}

/** Prints the report about one class. Reads only. */
export async function describeClassCommand(name: string, flags: GroupFlags): Promise<void> {
  const { describeClass } = await import("@millwright/runtime");
  await printReport(name, flags, describeClass, renderClass);
}
