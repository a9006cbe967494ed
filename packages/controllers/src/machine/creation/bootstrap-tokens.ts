import { createHash } from "node:crypto";
import { type Clock, type Random, Secret } from "@millwright/base";
import { isMachineError, MachineError } from "@millwright/core";
import { annotationKeys, bootstrapToken, type Machine } from "@millwright/core/machine-api";
import {
  type ApiClient,
  ignoreNotFound,
  isAlreadyExists,
  isApiError,
  isConflict,
  isForbidden,
  isNotFound,
  secretResource,
} from "@millwright/kube";
import type { SecretObject } from "../../model/node-objects.ts";

/** The bootstrap tokens with which new nodes join the target cluster (MCM, `pkg/util/provider/machinecontroller/userdata.go`). Their values are never printed. */
export interface BootstrapTokens {
  /**
   * Creates the token of a machine, or returns the existing one; usually one request.
   *
   * @throws MachineError Unavailable, or PermissionDenied when this process is not allowed to write such Secrets
   */
  ensure(machine: Machine, ttlMs: number): Promise<Secret>;
  /** Removes the token of a machine. One that is not removed expires. */
  remove(machine: Machine): Promise<void>;
}

export interface BootstrapTokenOptions {
  readonly api: ApiClient;
  /** Of the target API server: its controllers remove tokens that expired. */
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  /** Comma list, stored as `auth-extra-groups`. */
  readonly extraGroups: string;
}

const { namespace, secretType, secretNamePrefix } = bootstrapToken;
const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 6;
const SECRET_LENGTH = 16;

/** Maximum number of ids per machine; with two billion possible ids the second one is rarely needed. */
const MAX_IDS = 4;

/** Maximum number of requests for one token. */
const MAX_STEPS = 12;

/** The n-th id of a machine. Derived from the UID, so that every process computes the same ids, spread over all possible ones. */
export function tokenId(uid: string, n: number): string {
  const digest = createHash("sha256").update(`${uid}/${n}`).digest();
  return [...digest.subarray(0, ID_LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join("");
}

const encode = (text: string): string => Buffer.from(text).toString("base64");
const decode = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString("utf8");

const ownerOf = ({ metadata }: SecretObject): string | undefined => metadata.annotations?.[annotationKeys.tokenOwner];

const isExpired = ({ data }: SecretObject, now: Date): boolean =>
  !(Date.parse(decode(data?.["expiration"])) > now.getTime());

const valueOf = ({ data }: SecretObject): Secret =>
  Secret.of(`${decode(data?.["token-id"])}.${decode(data?.["token-secret"])}`);

/** The error of a creation. Messages of the API server contain no token. */
function failureOf(error: unknown): MachineError {
  if (isMachineError(error)) return error;
  const why = isApiError(error) ? error.message : "the API server of the target cluster is unreachable";
  const code = isForbidden(error) ? "PermissionDenied" : "Unavailable";
  return new MachineError(code, `cannot create a bootstrap token in namespace ${namespace}: ${why}`, { cause: error });
}

export function createBootstrapTokens({ api, clock, random, extraGroups }: BootstrapTokenOptions): BootstrapTokens {
  /** UIDs of the Secrets that this process created, by UID of their machine: their removal needs no lookup. */
  const made = new Map<string, { readonly name: string; readonly uid: string }>();

  const randomCharacter = (): string => ALPHABET.charAt(Math.floor(random.next() * ALPHABET.length));
  const refOf = (uid: string, n: number) => ({ namespace, name: `${secretNamePrefix}${tokenId(uid, n)}` });
  const newSecret = ({ metadata: { name, uid = "" } }: Machine, n: number, ttlMs: number) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...refOf(uid, n), annotations: { [annotationKeys.tokenOwner]: uid } },
    type: secretType,
    data: {
      description: encode(`Token of machine ${name}, created by Millwright`),
      "token-id": encode(tokenId(uid, n)),
      "token-secret": encode(Array.from({ length: SECRET_LENGTH }, randomCharacter).join("")),
      expiration: encode(`${new Date(clock.now().getTime() + ttlMs).toISOString().slice(0, 19)}Z`),
      "usage-bootstrap-authentication": encode("true"),
      "usage-bootstrap-signing": encode("true"),
      "auth-extra-groups": encode(extraGroups),
    },
  });

  const create = async (machine: Machine, n: number, ttlMs: number): Promise<Secret | undefined> => {
    try {
      const secret: SecretObject & { readonly kind: string } = newSecret(machine, n, ttlMs);
      const { metadata } = await api.create(secretResource, secret);
      made.set(machine.metadata.uid ?? "", { name: metadata.name, uid: metadata.uid ?? "" });
      return valueOf(secret);
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      throw error;
    }
  };
  const get = (uid: string, n: number): Promise<SecretObject | undefined> =>
    ignoreNotFound(api.get<SecretObject>(secretResource, refOf(uid, n)));
  const drop = async (name: string, uid: string): Promise<void> => {
    try {
      await api.delete(secretResource, { namespace, name }, { uid });
    } catch (error) {
      // Deleted, or replaced by another client: nothing to remove.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  };

  return {
    async ensure(machine, ttlMs) {
      const { uid = "" } = machine.metadata;
      try {
        let n = 0;
        for (let step = 0; step < MAX_STEPS && n < MAX_IDS; step++) {
          const token = await create(machine, n, ttlMs);
          if (token !== undefined) return token;
          const existing = await get(uid, n);
          if (existing === undefined) continue;
          if (ownerOf(existing) !== uid) n++;
          else if (!isExpired(existing, clock.now())) return valueOf(existing);
          else await drop(existing.metadata.name, existing.metadata.uid ?? "");
        }
      } catch (error) {
        throw failureOf(error);
      }
      throw new MachineError(
        "Unavailable",
        `cannot create a bootstrap token in namespace ${namespace}: Secret "${refOf(uid, 0).name}" and the next ${MAX_IDS - 1} belong to other machines; delete unused ones`,
      );
    },
    async remove({ metadata: { uid = "" } }) {
      const own = made.get(uid);
      made.delete(uid);
      if (own !== undefined) return drop(own.name, own.uid);
      for (let n = 0; n < MAX_IDS; n++) {
        const existing = await get(uid, n);
        if (existing === undefined) return;
        if (ownerOf(existing) === uid) return drop(existing.metadata.name, existing.metadata.uid ?? "");
      }
    },
  };
}
