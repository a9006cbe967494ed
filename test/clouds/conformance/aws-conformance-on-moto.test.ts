import { areaOf, contractRules, defineConformance } from "@millwright/conformance";
import { afterAll, describe, it } from "vitest";
import { hasMoto } from "../ec2-servers.ts";
import { motoFixture } from "./moto-fixture.ts";

/** Rules that need what moto 5.2.5 does not have: client tokens, and the conjunction of two filters (`ec2-servers.test.ts`). */
const motoDifferences: readonly string[] = [
  "create.concurrent-calls",
  "create.lost-response",
  "list.contains-exactly-own-vms",
];
/** Areas whose responses come from the fault proxy: the emulator of this repository is sufficient. */
const withoutCloud: readonly string[] = ["calls", "errors", "load"];

const rules = contractRules.filter(
  (rule) => !withoutCloud.includes(areaOf(rule)) && !motoDifferences.includes(rule.id),
);

defineConformance({
  name: "the driver of AWS on moto (where it is installed: test/emulators/ec2/README.md)",
  fixture: motoFixture,
  only: rules.map(({ id }) => id),
  graceMs: 20_000,
  describe: hasMoto ? describe : describe.skip,
  it,
  afterAll,
});
