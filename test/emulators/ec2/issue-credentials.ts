import type { Ec2World } from "./world.ts";

/** Credentials that expire. */
export interface IssuedCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: string;
}

/** Issues credentials that the world accepts until they expire. */
export function issueCredentials(world: Ec2World): IssuedCredentials {
  const sessionMs = world.options.sessionMs ?? 3_600_000;
  const accessKeyId = `ASIA${world.random.hex(8).toUpperCase()}`;
  const made = { secretAccessKey: world.random.hex(20), sessionToken: world.random.hex(32) };
  world.accessKeys?.set(accessKeyId, { ...made, account: "123456789012", expiresAtMs: world.nowMs() + sessionMs });
  return { accessKeyId, ...made, expiration: new Date(world.now().getTime() + sessionMs).toISOString() };
}
