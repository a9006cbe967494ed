import { backoffBounds } from "@millwright/controllers";
import { formatGoDuration, isRecord } from "@millwright/base";
import type { MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import { crds } from "@millwright/core/machine-api";
import { variableOf } from "../../packages/cli/src/configuration/read-configuration.ts";
import { createProgram } from "../../packages/cli/src/program.ts";
import { crdTable, shapeOf, type SharedShapes } from "./crd-table.ts";
import { listItem } from "./markdown-list.ts";
import { markdownTable } from "./markdown-table.ts";

/** A flag as the command line has it. */
type Option = ReturnType<typeof createProgram>["options"][number];

type Blocks = readonly (readonly [string, string])[];

const code = (text: string): string => `\`${text}\``;

/** The schema at a path of properties below the object of a kind. */
function schemaAt(kind: string, ...path: readonly string[]): unknown {
  const crd = crds().find(({ spec }) => spec.names.kind === kind);
  const top: unknown = crd?.spec.versions[0]?.schema.openAPIV3Schema;
  return path.reduce<unknown>(
    (schema, name) => (isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"][name] : undefined),
    top,
  );
}

/** Shapes of several kinds, and where docs/reference/api.md has them. */
function sharedShapes(): SharedShapes {
  const selector = shapeOf(schemaAt("MachineDeployment", "spec", "selector"));
  return new Map([
    [selector, "[label selector](#label-selectors)"],
    [shapeOf(schemaAt("Machine", "spec")), "[spec of a Machine](#machine)"],
    [shapeOf(schemaAt("Machine", "status", "lastOperation")), "[operation](#operations)"],
    [shapeOf(schemaAt("MachineSet", "status", "lastOperation")), "[operation](#operations) without `details`"],
    [shapeOf(schemaAt("Machine", "spec", "class")), "[class reference](#class-references)"],
    [shapeOf(schemaAt("MachineDeployment", "status", "failedMachines")), "list of [failed machines](#failed-machines)"],
  ]);
}

/** Tables of docs/reference/api.md. */
function apiBlocks(): Blocks {
  const shared = sharedShapes();
  const table = (kind: string, part: string): string => crdTable(schemaAt(kind, part), `${part}.`, shared);
  const without = (...names: readonly string[]): unknown => {
    const schema = schemaAt("MachineClass");
    const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
    const kept = Object.entries(properties).filter(([name]) => !names.includes(name));
    return { ...(isRecord(schema) ? schema : {}), properties: Object.fromEntries(kept) };
  };
  const failed = schemaAt("MachineDeployment", "status", "failedMachines");
  return [
    ["api-machine-class", crdTable(without("apiVersion", "kind", "metadata"), "", shared)],
    ["api-machine-deployment-spec", table("MachineDeployment", "spec")],
    ["api-machine-deployment-status", table("MachineDeployment", "status")],
    ["api-machine-set-spec", table("MachineSet", "spec")],
    ["api-machine-set-status", table("MachineSet", "status")],
    ["api-machine-spec", table("Machine", "spec")],
    ["api-machine-status", table("Machine", "status")],
    ["api-selector", crdTable(schemaAt("MachineDeployment", "spec", "selector"), "", shared)],
    ["api-class", crdTable(schemaAt("Machine", "spec", "class"), "", shared)],
    ["api-operation", crdTable(schemaAt("Machine", "status", "lastOperation"), "", shared)],
    ["api-failed-machine", crdTable(isRecord(failed) ? failed["items"] : undefined, "", shared)],
  ];
}

/** Heading of the flags that have no group in `--help`. */
const GENERAL = "Clusters, namespaces and logs";

/** Entries of a configuration file cannot name that file. */
const configurationFlags = new Set(["config", "print-config"]);

/** A flag with its default and its meaning; the help has a default that is no value at the end of the meaning. */
function flagRow({ flags, defaultValue, defaultValueDescription, description, ...option }: Option): readonly string[] {
  const name = flags.replace(/^.*--([\w-]+).*$/, "$1");
  const [, meaning = description, inText = ""] = /^(.*?) \(default: (.*)\)$/.exec(description) ?? [];
  const preset = defaultValueDescription ?? (defaultValue === undefined ? "" : String(defaultValue));
  const hasVariable = !option.negate && !configurationFlags.has(name);
  const choices = option.argChoices === undefined ? "" : `: ${option.argChoices.join(", ")}`;
  return [
    code(flags),
    preset === "" ? inText.replaceAll('"', "") : code(preset),
    hasVariable ? code(variableOf(name)) : "",
    `${meaning}${choices}`,
  ];
}

/** What explains the flags of a group, as Markdown below its heading; a group without needs none. */
const groupTexts: Readonly<Record<string, string>> = {
  [GENERAL]:
    "What a kubeconfig of the target cluster [may contain](../guides/target-kubeconfigs.md) is a list for `--target-kubeconfig-allow`. [The command](../../packages/cli/README.md#controllers) explains `--controllers`, [recording cloud traffic](../guides/recording-cloud-traffic.md) `--record-cloud`.",
  "Leader election": "See [high availability](../operations/high-availability.md).",
  "Health and remediation":
    "See [health and remediation](../concepts/health-and-remediation.md) and [lost machines and lost VMs](../guides/safety.md). The fields of a [Machine](api.md#machine) override the timeouts.",
  Creation: "See [tune](../operations/tune.md#concurrency).",
  "Drain and deletion":
    "See [draining](../guides/draining.md) and the [deletion budget](../guides/deletion-budget.md).",
  "In-place updates, preservation, rollouts":
    "See [in-place updates](../guides/in-place-updates.md), [preserving machines](../guides/preserving-machines.md) and [rollouts](../guides/rollouts.md).",
  Drivers:
    "See [drivers in processes of their own](../project/decisions/driver-isolation.md) and, for digests, [install a driver](../drivers.md#install-it).",
  Watchdog: "See [a process that hangs](../operations/watchdog.md).",
  Shadow: "See [migrate from MCM](../operations/migrate-from-mcm.md).",
  "Cluster autoscaler": "[Cluster autoscaler](../operations/cluster-autoscaler.md) explains them.",
  Dashboard: "See [dashboard](../operations/dashboard.md).",
  Profiles: "See [profiles](../operations/profiles.md).",
  Traces: "See [traces](../operations/traces.md).",
};

/** The flags of `millwright run` by the groups of its help, each with a heading. */
function flagBlock(): string {
  const run = createProgram(() => undefined).commands.find((command) => command.name() === "run");
  const groups = new Map<string, Option[]>();
  for (const option of run?.options.filter(({ hidden }) => !hidden) ?? []) {
    const name = option.helpGroupHeading?.replace(/:$/, "") ?? GENERAL;
    groups.set(name, [...(groups.get(name) ?? []), option]);
  }
  const headings = ["flag", "default", "environment variable", "meaning"];
  return [...groups]
    .map(([name, options]) => {
      const text = groupTexts[name];
      const table = markdownTable(headings, options.map(flagRow));
      return [`## ${name}`, ...(text === undefined ? [] : [text]), table].join("\n\n");
    })
    .join("\n\n");
}

/** The error codes of drivers, with when a call is repeated and what an operator does. */
function codeBlock(): string {
  const retryOf = (name: MachineErrorCode): string => {
    const { retry } = machineErrorCodes[name];
    if (retry === "none") return "";
    const delays = (["create", "delete"] as const).map((kind) => {
      const { firstMs, longestMs } = backoffBounds(retry, kind);
      return `${kind === "create" ? "creations" : "deletions"} after ${formatGoDuration(firstMs)} to ${formatGoDuration(longestMs)}`;
    });
    return `Retried (${retry}): ${delays.join(", ")}.`;
  };
  return Object.entries(machineErrorCodes)
    .flatMap(([name, { number, meaning, operator }]) => [
      listItem([`${code(name)} (${number})`]),
      ...[`Meaning: ${meaning}`, retryOf(name as MachineErrorCode), `You: ${operator}`]
        .filter((part) => part !== "" && part !== "You: ")
        .map((part) => listItem([part], "  ")),
    ])
    .join("\n");
}

/** Blocks of the pages in docs/reference that are made from schemas, flags and codes. */
export const referenceBlocks = (): Blocks => [...apiBlocks(), ["flags", flagBlock()], ["error-codes", codeBlock()]];
