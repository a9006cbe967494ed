import { backoffBounds, type OperationKind } from "@millwright/controllers";
import {
  areaOf,
  cloudTraits,
  contractRules,
  type ContractRule,
  excludedSubjects,
  ruleAreas,
} from "@millwright/conformance";
import { formatGoDuration, logKeys } from "@millwright/base";
import {
  annotationKeys,
  cacheMetricNames,
  cloudMetricNames,
  clusterApiConditionTypes,
  controllerInfos,
  controllerMetricNames,
  deletionStages,
  eventReasons,
  machineEventReasons,
  finalizers,
  labelKeys,
  legacyConditionTypes,
  machineDeploymentMetricNames,
  machineFlowMetricNames,
  machineMetricNames,
  machineSetMetricNames,
  nodejsMetricNames,
  ownMetricNames,
  phaseGuide,
  phases,
  phaseTransitions,
  processMetricNames,
  type RequiredPermission,
  requestMetricNames,
  requiredPermissions,
  summaryConditionTypes,
  taintKeys,
} from "@millwright/core/machine-api";
import type { ErrorCodeGroup } from "@millwright/core/driver-kit";
import { awsSpecSchema } from "@millwright/provider-aws";
import { azureSpecSchema } from "@millwright/provider-azure";
import { gcpSpecSchema } from "@millwright/provider-gcp";
import { errorCodeGroups as awsErrorCodes } from "../../providers/aws/src/api/error-codes.ts";
import { errorCodeGroups as azureErrorCodes } from "../../providers/azure/src/api/error-codes.ts";
import { errorCodeGroups as gcpErrorCodes } from "../../providers/gcp/src/api/error-codes.ts";
import { qemuSpecSchema } from "@millwright/provider-qemu";
import * as z from "zod";
import { reloadableFlags } from "../../packages/cli/src/configuration/reloadable-flags.ts";
import { knownDifferences } from "../../test/compat/known-differences.ts";
import { performanceBlocks } from "../../test/scale/report/performance-page.ts";
import { baselineFile, readResults } from "../../test/scale/report/results-files.ts";
import { chartValues } from "./chart-values.ts";
import { chainOfBoxes, conceptBlocks } from "./concept-blocks.ts";
import { listItem } from "./markdown-list.ts";
import { markdownTable } from "./markdown-table.ts";
import { readEntryComments } from "./read-doc-comments.ts";
import { referenceBlocks } from "./reference-blocks.ts";
import { schemaTable } from "./schema-table.ts";

/** Names of the transcripts in `test/system/testdata/transcripts`. */
const transcripts = [
  "quota-exhausted",
  "stuck-drain",
  "missing-class",
  "wrong-credentials",
  "node-never-joins",
  "paused-rollout",
  "frozen-set",
  "over-the-deletion-budget",
] as const;

/** Reads a source file by its path from the root of the repository. */
export type ReadSource = (file: string) => string;

/** The blocks that `tools/docs/generate-docs.ts` fills, by name. Each is made from a table that code or tests run by. */
export function generatedBlocks(read: ReadSource): ReadonlyMap<string, string> {
  return new Map([
    [
      "phases",
      markdownTable(
        ["phase", "meaning"],
        Object.entries(phases).map(([name, text]) => [phaseName(name), text]),
      ),
    ],
    [
      "phase-guide",
      Object.entries(phaseGuide)
        .flatMap(([name, { cause, controller, person }]) => [
          listItem([phaseName(name)]),
          ...[`Cause: ${cause}`, `Controllers: ${controller}`, `You: ${person}`].map((part) => listItem([part], "  ")),
        ])
        .join("\n"),
    ],
    ["phase-diagram", phaseDiagram()],
    ["phase-transitions", phaseTable()],
    ["deletion-diagram", deletionDiagram()],
    ["devcluster-differences", differencesList()],
    [
      "deletion-stages",
      markdownTable(
        ["stage", "purpose", "marker"],
        deletionStages.map(({ name, purpose, marker }) => [name, purpose, code(marker)]),
      ),
    ],
    ["log-keys", logKeyTable()],
    ["retry-delays", retryTable()],
    ...contractBlocks(),
    [
      "chart-values",
      chartValues(read("charts/millwright/values.yaml"))
        .map(({ key, preset, meaning }) => listItem([`${code(key)} (${code(preset)}): ${meaning}`]))
        .join("\n"),
    ],
    ...commandBlocks(),
    ["control-permissions", permissionsTable("control")],
    ["target-permissions", permissionsTable("target")],
    ...specBlocks(),
    ...cloudCodeBlocks(),
    ...performanceBlocks(readResults(baselineFile)),
    ...wireBlocks(read),
    ...conceptBlocks(),
    ...referenceBlocks(),
    ...transcriptBlocks(read),
  ]);
}

/** A comment without the mark of what MCM does not have: in the documents, names show it. */
const own = (comment: string): string =>
  comment.replace(/^Ours(?:, |: )(.)/, (_, first: string) => first.toUpperCase());

/** Names on objects and of metrics, which other programs read. */
function wireBlocks(read: ReadSource): readonly (readonly [string, string])[] {
  const keys = (file: string, name: string, table: Readonly<Record<string, string>>): string => {
    const meanings = readEntryComments(file, read(file), name);
    return Object.entries(table)
      .map(([entry, key]) => listItem([`${code(key)}: ${withLinks(own(meanings.get(entry) ?? ""), table)}`]))
      .join("\n");
  };
  const conditions = (name: string, table: Readonly<Record<string, string>>): string =>
    keys("packages/core/src/wire/condition-types.ts", name, table);
  const metrics = (name: string, table: Readonly<Record<string, string>>): string =>
    keys("packages/core/src/wire/metric-names.ts", name, table);
  return [
    ["labels", keys("packages/core/src/wire/labels.ts", "labelKeys", labelKeys)],
    ["annotations", keys("packages/core/src/wire/annotations.ts", "annotationKeys", annotationKeys)],
    ["taints", keys("packages/core/src/wire/taints.ts", "taintKeys", taintKeys)],
    ["finalizers", keys("packages/core/src/wire/finalizers.ts", "finalizers", finalizers)],
    [
      "machine-event-reasons",
      keys("packages/core/src/wire/event-reasons.ts", "machineEventReasons", machineEventReasons),
    ],
    ["machine-deployment-metrics", metrics("machineDeploymentMetricNames", machineDeploymentMetricNames)],
    ["machine-set-metrics", metrics("machineSetMetricNames", machineSetMetricNames)],
    ["machine-metrics", metrics("machineMetricNames", machineMetricNames)],
    ["machine-flow-metrics", metrics("machineFlowMetricNames", machineFlowMetricNames)],
    ["cloud-metrics", metrics("cloudMetricNames", cloudMetricNames)],
    ["process-metrics", metrics("processMetricNames", processMetricNames)],
    ["own-metrics", metrics("ownMetricNames", ownMetricNames)],
    ["controller-metrics", metrics("controllerMetricNames", controllerMetricNames)],
    ["request-metrics", metrics("requestMetricNames", requestMetricNames)],
    ["cache-metrics", metrics("cacheMetricNames", cacheMetricNames)],
    ["nodejs-metrics", metrics("nodejsMetricNames", nodejsMetricNames)],
    [
      "condition-types",
      [
        conditions("legacyConditionTypes", legacyConditionTypes),
        conditions("clusterApiConditionTypes", clusterApiConditionTypes),
        conditions("summaryConditionTypes", summaryConditionTypes),
      ].join("\n"),
    ],
    ["event-reasons", keys("packages/core/src/wire/event-reasons.ts", "eventReasons", eventReasons)],
  ];
}

/** Transcripts of staged situations, which `test/system/why-staged.test.ts` compares with the output of the command. */
const transcriptBlocks = (read: ReadSource): readonly (readonly [string, string])[] =>
  transcripts.map((name) => [
    `transcript-${name}`,
    `\`\`\`text\n${read(`test/system/testdata/transcripts/${name}.txt`).trimEnd()}\n\`\`\``,
  ]);

/** The keys of log lines. */
const logKeyTable = (): string =>
  markdownTable(
    ["key", "what it holds"],
    Object.entries(logKeys).map(([key, text]) => [code(key), text]),
  );

/** The rules of the driver contract, one block for each part. */
const contractBlocks = (): readonly (readonly [string, string])[] => [
  ...ruleAreas.map((area): [string, string] => [
    `contract-${area}`,
    contractRules
      .filter((rule) => areaOf(rule) === area)
      .map(ruleItem)
      .join("\n"),
  ]),
  [
    "contract-traits",
    Object.entries(cloudTraits)
      .map(([name, meaning]) => listItem([`${code(name)}: ${meaning}`]))
      .join("\n"),
  ],
  ["contract-excluded", excludedSubjects.map(({ subject, reason }) => listItem([`${subject}. ${reason}`])).join("\n")],
];

/** A rule of the driver contract: its id, for whom it holds, and its text. */
function ruleItem({ id, mandatory, level, capability, trait, text }: ContractRule): string {
  const need = mandatory && level === "bronze" ? "mandatory" : mandatory ? `mandatory for ${level}` : `for ${level}`;
  const scope = [
    ...(capability === undefined ? [] : [`capability ${code(capability)}`]),
    ...(trait === undefined ? [] : [`property ${code(trait)}`]),
  ];
  return listItem([`${code(id)} (${[need, ...scope].join(", ")}): ${text}`]);
}

/** What the contract tests know to differ between our API server and the real one. */
const differencesList = (): string =>
  knownDifferences.map(({ what, why }) => listItem([`${what}.`, `Why: ${why}.`])).join("\n");

/** Between which delays each kind of call is repeated, as the machine controller has them. */
function retryTable(): string {
  const delays = (retry: "transient" | "exhausted" | "persistent", kind: OperationKind): string => {
    const { firstMs, longestMs } = backoffBounds(retry, kind);
    const [first, longest] = [formatGoDuration(firstMs), formatGoDuration(longestMs)];
    return first === longest ? first : `${first}, doubling up to ${longest}`;
  };
  return markdownTable(
    ["retry class", "creating the VM, or finding it", "initializing it", "deleting it"],
    (["transient", "exhausted", "persistent"] as const).map((retry) => [
      retry,
      delays(retry, "create"),
      delays(retry, "initialize"),
      delays(retry, "delete"),
    ]),
  );
}

/** Where a permission holds, as a table shows it. */
const scopes: Readonly<Record<RequiredPermission["scope"], string>> = {
  machines: "machines",
  "kube-system": "`kube-system`",
  cluster: "the cluster",
};

/** The fields of `providerSpec`. */
const specBlocks = (): readonly (readonly [string, string])[] => [
  ["aws-spec", schemaTable(z.toJSONSchema(awsSpecSchema, { unrepresentable: "any" }))],
  ["azure-spec", schemaTable(z.toJSONSchema(azureSpecSchema, { unrepresentable: "any" }))],
  ["gcp-spec", schemaTable(z.toJSONSchema(gcpSpecSchema, { unrepresentable: "any" }))],
  ["qemu-spec", schemaTable(z.toJSONSchema(qemuSpecSchema, { unrepresentable: "any", io: "input" }))],
];

/** Error codes of a cloud by the code of the contract. */
const errorCodeTable = (groups: readonly ErrorCodeGroup[]): string =>
  markdownTable(
    ["code", "why", "codes of the cloud"],
    groups.map(({ code: machineCode, why, cloudCodes }) => [code(machineCode), why, cloudCodes.map(code).join(", ")]),
  );

const cloudCodeBlocks = (): readonly (readonly [string, string])[] => [
  ["aws-error-codes", errorCodeTable(awsErrorCodes)],
  ["azure-error-codes", errorCodeTable(azureErrorCodes)],
  ["gcp-error-codes", errorCodeTable(gcpErrorCodes)],
];

/** What `millwright run` can select and reload. */
const commandBlocks = (): readonly (readonly [string, string])[] => [
  [
    "controllers",
    markdownTable(
      ["controller", "program and Lease", "does"],
      controllerInfos.map(({ name, lease, does }) => [code(name), code(lease), does]),
    ),
  ],
  ["reloadable-flags", [...reloadableFlags].map((name) => code(`--${name}`)).join(", ")],
];

function permissionsTable(cluster: RequiredPermission["cluster"]): string {
  const permissions = requiredPermissions.filter((permission) => permission.cluster === cluster);
  const resourceOf = ({ group, resource }: RequiredPermission): string =>
    code(`${group === "" ? "" : `${group}/`}${resource}`);
  const table = markdownTable(
    ["resource", "in", "verbs", "for"],
    permissions.map((permission) => [
      resourceOf(permission),
      scopes[permission.scope],
      permission.verbs.join(", "),
      permission.purpose,
    ]),
  );
  const optional = permissions.flatMap((permission) =>
    permission.without === undefined ? [] : [listItem([`${resourceOf(permission)}: ${permission.without}`])],
  );
  return optional.length === 0
    ? table
    : [table, "", "Optional are, with what happens without them:", "", ...optional].join("\n");
}

const code = (text: string): string => `\`${text}\``;

const phaseName = (phase: string): string => (phase === "" ? "(empty)" : code(phase));

/** `{@link table.entry}` becomes the key that the entry holds; a link to something else becomes its name. */
function withLinks(text: string, table: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{@link ([\w.]+)\}/g, (_, target: string) =>
    code(table[target.split(".").at(-1) ?? ""] ?? target),
  );
}

/** Names of states; mermaid needs one for the empty phase and for "any". */
const stateOf = (phase: string): string => (phase === "" ? "Empty" : phase);

/** The phases as a state diagram: arrows carry the numbers of the rows in the table. A row that keeps the phase has no arrow. */
function phaseDiagram(): string {
  const numbers = new Map<string, number[]>();
  for (const { row, from, to } of phaseTransitions) {
    for (const start of from === "any" ? ["AnyPhase"] : from) {
      if (start === to) continue;
      const arrow = `${stateOf(start)} --> ${stateOf(to)}`;
      numbers.set(arrow, [...(numbers.get(arrow) ?? []), row]);
    }
  }
  return [
    "```mermaid",
    "stateDiagram-v2",
    '  state "(empty)" as Empty',
    '  state "any phase" as AnyPhase',
    "  [*] --> Empty",
    ...[...numbers].map(([arrow, rows]) => `  ${arrow}: ${rows.join(", ")}`),
    "  Terminating --> [*]",
    "```",
  ].join("\n");
}

function phaseTable(): string {
  return markdownTable(
    ["#", "from", "to", "when", "operation", "state"],
    phaseTransitions.map(({ row, from, to, trigger, operation, state }) => [
      String(row),
      from === "any" ? "any" : from.map(phaseName).join(", "),
      phaseName(to),
      trigger,
      operation,
      state,
    ]),
  );
}

function deletionDiagram(): string {
  const names = deletionStages.map(({ name }) => name);
  return ["```mermaid", ...chainOfBoxes, `  ${names.join(" --> ")} --> deleted([deleted])`, "```"].join("\n");
}
