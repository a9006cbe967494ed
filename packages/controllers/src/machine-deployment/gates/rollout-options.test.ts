import { annotationKeys } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachineDeployment, annotated } from "../../testing/builders.ts";
import { rolloutOptionProblems } from "./rollout-options.ts";

const { canarySteps, canaryContinue, canaryOnFailure, maintenanceWindows, onDelete, honorMinReadySeconds } =
  annotationKeys;
const recreate = { spec: { strategy: { type: "Recreate" as const, rollingUpdate: null } } };

it.each<[string, Record<string, string>, string[]]>([
  ["no problem without options", {}, []],
  [
    "no problem with valid options",
    {
      [canarySteps]: "10%/5m",
      [canaryContinue]: "pool-of-another-rollout/12",
      [canaryOnFailure]: "rollback",
      [maintenanceWindows]: "0 22 * * 6 4h",
      [onDelete]: "false",
      [honorMinReadySeconds]: "true",
    },
    [],
  ],
  [
    "a problem for each that it does not",
    {
      [canarySteps]: "x",
      [canaryContinue]: "yes",
      [canaryOnFailure]: "panic",
      [maintenanceWindows]: "x",
      [onDelete]: "yes",
      [honorMinReadySeconds]: "1",
    },
    [
      `metadata.annotations[${canarySteps}]: \`x\` is not a step`,
      `metadata.annotations[${maintenanceWindows}]: \`x\` is not a window`,
      `metadata.annotations[${canaryContinue}]: must be REVISION/STEP, as shown by condition RollingOut during a pause, is "yes"`,
      `metadata.annotations[${canaryOnFailure}]: must be stop or rollback, is "panic"`,
      `metadata.annotations[${onDelete}]: must be true or false, is "yes"`,
      `metadata.annotations[${honorMinReadySeconds}]: must be true or false, is "1"`,
    ],
  ],
  [
    "a problem with two that exclude each other",
    { [canarySteps]: "10%/5m", [onDelete]: "true" },
    [`metadata.annotations[${onDelete}]: cannot be combined`],
  ],
])("has %s", (_, annotations, expected) => {
  const found = rolloutOptionProblems(aMachineDeployment(annotated(annotations)));
  expect(found.map(({ path, message }) => `${path}: ${message}`)).toEqual(
    expected.map((each) => expect.stringContaining(each)),
  );
});

it("refuses for other strategies what only a rolling update can do", () => {
  const asked = aMachineDeployment(annotated({ [canarySteps]: "10%/5m", [onDelete]: "true" }), recreate);
  expect(rolloutOptionProblems(asked).map(({ path }) => path)).toEqual([
    `metadata.annotations[${canarySteps}]`,
    `metadata.annotations[${onDelete}]`,
  ]);
  const notAsked = aMachineDeployment(
    annotated({ [onDelete]: "false", [maintenanceWindows]: "0 22 * * 6 4h" }),
    recreate,
  );
  expect(rolloutOptionProblems(notAsked)).toEqual([]);
});
