import { systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { renderDeployment } from "../describe/render-deployment.ts";
import { renderMachine } from "../describe/render-machine.ts";
import { untilTold } from "../terminal/signals.ts";

/** Flags of `millwright describe`. */
export interface DescribeFlags {
  readonly controlKubeconfig?: string;
  readonly targetKubeconfig?: string;
  readonly namespace?: string;
  readonly output: "text" | "json";
}

/** Prints what is known about one machine. Reads only. */
export async function describeMachineCommand(name: string, flags: DescribeFlags): Promise<void> {
  const { describeMachine } = await import("@millwright/runtime");
  const config = await loadKubeConfig({ file: flags.controlKubeconfig });
  const control = createApiClient(config, { userAgent: "millwright" });
  const separate = flags.targetKubeconfig !== undefined && flags.targetKubeconfig !== "none";
  const target = separate
    ? createApiClient(await loadKubeConfig({ file: flags.targetKubeconfig, allowPlugins: false }), {
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
      signal: untilTold(),
    });
    const text =
      flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : renderMachine(report, systemClock.now());
    process.stdout.write(text);
  } finally {
    await Promise.all([control.close(), ...(separate ? [target.close()] : [])]);
  }
}

/** Prints what is known about one deployment. Reads only. */
export async function describeDeploymentCommand(
  name: string,
  flags: Pick<DescribeFlags, "controlKubeconfig" | "namespace" | "output">,
): Promise<void> {
  const { describeDeployment } = await import("@millwright/runtime");
  const config = await loadKubeConfig({ file: flags.controlKubeconfig });
  const control = createApiClient(config, { userAgent: "millwright" });
  try {
    const namespace = flags.namespace ?? config.namespace ?? "default";
    const report = await describeDeployment({ control, namespace, name, signal: untilTold() });
    process.stdout.write(
      flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : renderDeployment(report),
    );
  } finally {
    await control.close();
  }
}
