import { parseGoDuration } from "@millwright/core";
import * as z from "zod";
import { machineTypeNames } from "./machine-type.ts";

const duration = z.string().transform((value, check) => {
  const ms = parseGoDuration(value);
  if (ms !== undefined && ms >= 0) return ms;
  check.addIssue({ code: "custom", message: 'must be a duration that is not negative, such as "5s" or "1m30s"' });
  return z.NEVER;
});

const label = z.string().max(63);

const region = z
  .string()
  .regex(/^[a-z0-9-]{1,63}$/, "must be 1 to 63 of a-z, 0-9 and dashes")
  .default("local");
const cluster = z.string().min(1).max(128).default("default");

/** Schema of `providerSpec` of classes with `provider: mock`. */
export const mockSpecSchema = z
  .strictObject({
    machineType: z.enum(machineTypeNames),
    region,
    zone: z.string().min(1).max(128).optional(),
    image: z.string().min(1).max(128).default("simulated"),
    cluster,
    bootDelay: duration.optional(),
    checkAfter: duration.optional(),
    labels: z.record(z.string().min(1).max(317), label).default({}),
  })
  .transform(({ zone, bootDelay, checkAfter, ...spec }) => ({
    ...spec,
    zone: zone ?? `${spec.region}-a`,
    ...(bootDelay === undefined ? {} : { bootDelayMs: bootDelay }),
    ...(checkAfter === undefined ? {} : { checkAfterMs: checkAfter }),
  }));

/** `providerSpec` of the mock driver, with its defaults. */
export type MockSpec = Readonly<z.output<typeof mockSpecSchema>>;

/** Reads what finds a VM, its region and cluster, from a class that {@link mockSpecSchema} rejects. */
export const mockVmSpecSchema = z
  .object({ region, cluster, checkAfter: duration.optional().catch(undefined) })
  .transform(({ checkAfter, ...spec }): MockSpec => ({
    ...spec,
    machineType: machineTypeNames[0],
    zone: `${spec.region}-a`,
    image: "simulated",
    labels: {},
    ...(checkAfter === undefined ? {} : { checkAfterMs: checkAfter }),
  }));
