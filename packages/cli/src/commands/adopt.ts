import { systemClock } from "@millwright/base";
import type { AdoptReport } from "@millwright/runtime";
import { createCommandDrivers } from "../drivers/command-drivers.ts";
import type { ProviderTlsFlags } from "../drivers/driver-address.ts";
import { type ObjectFlags, withClusters } from "../explain/with-objects.ts";
import { plain } from "../terminal/text.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { exitUnexpectedly } from "../terminal/unexpected-error.ts";

/** Flags of `millwright adopt`. */
export interface AdoptFlags extends ProviderTlsFlags, ObjectFlags {
  readonly deployment: string;
  readonly dryRun?: true;
  readonly provider?: readonly string[];
  readonly output: "text" | "json";
}

/** The report as text. */
function renderAdoption({ isDryRun, machine, set, providerId, machines, replicas }: AdoptReport): string {
  const lines = [
    `${isDryRun ? "Would create" : "Created"} Machine ${plain(machine)} in MachineSet ${plain(set)}: it keeps VM ${plain(providerId)}.`,
    ...(machines > replicas
      ? [
          `The set has ${machines} machines and wants ${replicas}: it deletes others. To keep all, scale the deployment up.`,
        ]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** Creates the Machine that keeps a VM. */
export async function adoptCommand(subject: string, flags: AdoptFlags): Promise<void> {
  const { adoptVm, createDriverFinder, createJsonLog, superviseProcess } = await import("@millwright/runtime/checks");
  const log = createJsonLog("error");
  superviseProcess({ log, onOwnError: exitUnexpectedly });
  const drivers = createCommandDrivers(flags);
  try {
    await withClusters(flags, async (clusters) => {
      const report = await adoptVm({
        ...clusters,
        subject,
        deployment: flags.deployment,
        isDryRun: flags.dryRun === true,
        driverFor: await createDriverFinder(flags.provider ?? [], drivers.load),
        clock: systemClock,
        log,
        signal: untilStopSignal(),
      });
      process.stdout.write(
        flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : renderAdoption(report),
      );
    });
  } finally {
    await drivers.close();
  }
}
