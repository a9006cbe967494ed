import { readFile } from "node:fs/promises";
import { Secret } from "@millwright/base";
import { aContext, aMachine, secretOf } from "@millwright/core/testing";
import { createQemuDriver, qemuSpecSchema } from "@millwright/provider-qemu";

// Calls one method of the driver for one machine, in a process that a test kills: METHOD NAME FILE, with the class in FILE.
const [, , method, name = "", file = ""] = process.argv;
const spec = qemuSpecSchema.parse(JSON.parse(await readFile(file, "utf8")));
const request = {
  machine: aMachine(name),
  machineClass: { name: "pool", spec },
  secret: secretOf({}),
  idempotencyToken: "token",
  userData: Secret.of("#!/bin/sh\n"),
};
const driver = createQemuDriver();
await (method === "create" ? driver.createMachine(request, aContext()) : driver.deleteMachine(request, aContext()));
