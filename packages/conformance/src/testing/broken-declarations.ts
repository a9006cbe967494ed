import { isRecord } from "@millwright/base";
import * as z from "zod";
import { type BrokenDriver, withSchema } from "./broken-driver.ts";
import { toySecretSchema } from "./toy-steps.ts";

let validations = 0;

/** Mistakes of schemas and declarations. */
export const brokenDeclarations: readonly BrokenDriver[] = [
  {
    mistake: "implements a later contract",
    violates: ["driver.handshake"],
    change: () => ({ methods: () => ({ contractVersion: 99 }) }),
  },
  {
    mistake: "declares that it has no template, and returns one",
    violates: ["driver.capabilities-match"],
    change: () => ({
      methods: ({ capabilities }) => ({ capabilities: { ...capabilities, nodeTemplate: false } }),
    }),
  },
  {
    mistake: "connects when it is created",
    violates: ["driver.idle-makes-no-calls"],
    change: () => ({}),
    onCreate: (_, url) => void fetch(url).catch(() => undefined),
  },
  {
    mistake: "names no field in its problems",
    violates: ["spec.required-fields", "spec.unknown-fields"],
    change: () =>
      withSchema(async (right, value) => {
        const result = await right.spec["~standard"].validate(value);
        return result.issues === undefined ? result : { issues: [{ message: "this class is wrong" }] };
      }),
  },
  {
    mistake: "rejects unknown fields without their names",
    violates: ["spec.unknown-fields"],
    change: () =>
      withSchema(async (right, value) => {
        const result = await right.spec["~standard"].validate(value);
        const isUnknown = result.issues?.some((issue) => Reflect.has(issue, "keys")) === true;
        return isUnknown ? { issues: [{ message: "there is an unknown field" }] } : result;
      }),
  },
  {
    mistake: "throws for a value of the wrong type",
    violates: ["spec.hostile-values"],
    change: () =>
      withSchema((right, value) => {
        const size: unknown = isRecord(value) ? value["image"] : "";
        if (typeof size === "number") throw new TypeError("image.trim is not a function");
        return right.spec["~standard"].validate(value);
      }),
  },
  {
    mistake: "merges the class into an object",
    violates: ["spec.prototype-keys"],
    change: () =>
      withSchema((right, value) => {
        const own: unknown = isRecord(value) ? Reflect.getOwnPropertyDescriptor(value, "__proto__")?.value : undefined;
        if (isRecord(own)) Object.assign(Object.prototype, { polluted: own["polluted"] });
        return right.spec["~standard"].validate(value);
      }),
  },
  {
    mistake: "changes the class that it validates",
    violates: ["spec.pure"],
    change: () =>
      withSchema((right, value) => {
        const result = right.spec["~standard"].validate(value);
        if (isRecord(value)) Object.assign(value, { tags: { validated: String(++validations) } });
        return result;
      }),
  },
  {
    mistake: "rejects user data in the secret",
    violates: ["secret.extra-keys"],
    change: () => ({ methods: () => ({ secret: z.strictObject(toySecretSchema.shape) }) }),
  },
];
