import type { VirtualMachine } from "@azure/arm-compute";
import { type Clock, MachineError, orAborted } from "@millwright/core";
import { asOpenOutcome, fieldOf } from "@millwright/core/driver-kit";
import { type ClientOptions, type Clients, createClients } from "./clients.ts";
import { isMissing, toMachineError } from "./errors.ts";
import { type ReadableType, readVersions } from "./read-resource.ts";
import type { AzureApi } from "./requests.ts";
import { OperationInProgress } from "./operation-in-progress.ts";
import { createResourceWatch, type ResourceWatch, type WatchedResource } from "./resource-watch.ts";

/** Options of {@link createAzureApi}. */
export interface AzureApiOptions extends ClientOptions {
  readonly clock: Clock;
  /** Between two looks at what goes on in Azure, milliseconds; longer where there is much to read. Default 2 s. */
  readonly pollMs?: number;
}

/** Between two looks at what goes on in Azure by default, milliseconds. */
export const defaultPollMs = 2_000;

/** A list of the SDKs. */
interface Paged<T> {
  byPage(): AsyncIterable<readonly T[] & { readonly continuationToken?: string }>;
}

/** An asynchronous operation after an accepted request, as in the SDKs. Awaiting it polls this operation until it ends. */
interface Operation<T> extends PromiseLike<T> {
  submitted(): Promise<void>;
  readonly isDone: boolean;
}

/** The watch for VMs whose creation Azure has accepted: a look that fails does not mean that there is no VM. */
const ofAcceptedVms =
  (watch: ResourceWatch<VirtualMachine>): ResourceWatch<VirtualMachine> =>
  (group, name, signal) =>
    watch(group, name, signal).catch((error: unknown) => {
      throw asOpenOutcome(toMachineError(error, signal, `waiting for VM "${name}", which Azure creates`));
    });

/** Creates the requests of one subscription and credential. The clients behind them are made with the first one. */
export function createAzureApi(options: AzureApiOptions): AzureApi {
  const { clock, pollMs = defaultPollMs } = options;
  const lazyClients = createClients(options);

  const request = async <T>(signal: AbortSignal, send: (clients: Clients) => PromiseLike<T>): Promise<T> => {
    signal.throwIfAborted();
    try {
      // The SDK does not hand the signal to requests for tokens.
      return await orAborted(
        signal,
        lazyClients.get().then((clients) => send(clients)),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };

  const orMissing = async <T>(found: Promise<T>): Promise<T | undefined> => {
    try {
      return await found;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  /** All pages, or an error: a list that was cut short would let a VM leak. A resource group that does not exist has nothing in it. */
  const pagesOf = async <T>(
    signal: AbortSignal,
    list: (clients: Clients) => Paged<T>,
  ): Promise<readonly (readonly T[])[]> => {
    const found = await orMissing(
      request(signal, async (clients) => {
        const pages: (readonly T[])[] = [];
        const links = new Set<string>();
        for await (const page of list(clients).byPage()) {
          pages.push(page);
          const next = page.continuationToken ?? "";
          if (links.has(next)) throw new MachineError("Unavailable", "Azure returned the same page of a list twice");
          if (next !== "") links.add(next);
        }
        return pages;
      }),
    );
    return found ?? [];
  };

  const all = async <T>(signal: AbortSignal, list: (clients: Clients) => Paged<T>): Promise<readonly T[]> =>
    (await pagesOf(signal, list)).flat();

  const timing = { clock, pollMs };
  const vmWatch = createResourceWatch(
    {
      get: (group, name, abortSignal) =>
        orMissing(request(abortSignal, ({ compute }) => compute.virtualMachines.get(group, name, { abortSignal }))),
      list: (group, abortSignal) =>
        pagesOf(abortSignal, ({ compute }) => compute.virtualMachines.list(group, { abortSignal })),
    },
    timing,
  );
  const nicWatch = createResourceWatch(
    {
      get: (group, name, abortSignal) =>
        orMissing(request(abortSignal, ({ network }) => network.networkInterfaces.get(group, name, { abortSignal }))),
      list: (group, abortSignal) =>
        pagesOf(abortSignal, ({ network }) => network.networkInterfaces.list(group, { abortSignal })),
    },
    timing,
  );
  const diskWatch = createResourceWatch(
    {
      get: (group, name, abortSignal) =>
        orMissing(request(abortSignal, ({ compute }) => compute.disks.get(group, name, { abortSignal }))),
      list: (group, abortSignal) =>
        pagesOf(abortSignal, ({ compute }) => compute.disks.listByResourceGroup(group, { abortSignal })),
    },
    timing,
  );

  /** Sends a request that starts an operation. Returned in an object, since awaiting an operation waits for its end. */
  const begin = <T>(
    signal: AbortSignal,
    send: (clients: Clients) => Operation<T>,
  ): Promise<{ readonly operation: Operation<T> }> =>
    request(signal, async (clients) => {
      const operation = send(clients);
      await operation.submitted();
      return { operation };
    });

  /** Waits for what Azure has accepted. The end of the time of a call is not the end of that. */
  const waiting = async <T>(name: string, signal: AbortSignal, wait: () => Promise<T>): Promise<T> => {
    try {
      return await wait();
    } catch (error) {
      if (!signal.aborted || fieldOf(signal.reason, "name") !== "TimeoutError") throw error;
      throw new OperationInProgress(`Azure still processes the accepted request for "${name}"`, { cause: error });
    }
  };

  /**
   * Creates a resource, and shares its wait with other calls. Returns the created resource; if it failed, or is not visible yet, the operation decides the result.
   */
  const create = async <Resource extends WatchedResource>(
    watch: ResourceWatch<Resource>,
    group: string,
    name: string,
    signal: AbortSignal,
    send: (clients: Clients) => Operation<Resource>,
  ): Promise<Resource> => {
    const { operation } = await begin(signal, send);
    return waiting(name, signal, async () => {
      if (!operation.isDone) {
        const found = await watch(group, name, signal);
        if (found?.provisioningState === "Succeeded") return found;
      }
      return request(signal, () => operation);
    });
  };

  /** Deletes a resource, and shares its wait with other calls. If it still exists, the operation contains the reason. */
  const remove = async (
    watch: ResourceWatch<WatchedResource>,
    group: string,
    name: string,
    signal: AbortSignal,
    send: (clients: Clients) => Operation<void>,
  ): Promise<void> => {
    await orMissing(
      (async () => {
        const { operation } = await begin(signal, send);
        await waiting(name, signal, async () => {
          if (!operation.isDone && (await watch(group, name, signal)) === undefined) return;
          await request(signal, () => operation);
        });
      })(),
    );
  };

  const addressOf = (type: ReadableType, path: string): string =>
    `${options.cloud.endpoint}${path}?api-version=${readVersions[type]}`;

  return {
    getVm: (group, name, abortSignal, isExpanded = false) =>
      orMissing(
        request(abortSignal, ({ compute }) =>
          compute.virtualMachines.get(group, name, {
            abortSignal,
            ...(isExpanded ? { expand: "instanceView" as const } : {}),
          }),
        ),
      ),
    listVms: (group, abortSignal) =>
      all(abortSignal, ({ compute }) => compute.virtualMachines.list(group, { abortSignal })),
    settledVm: (group, name, signal) => waiting(name, signal, () => vmWatch(group, name, signal)),
    createVm: (group, name, input, abortSignal) =>
      create(ofAcceptedVms(vmWatch), group, name, abortSignal, ({ compute }) =>
        compute.virtualMachines.createOrUpdate(group, name, input, {
          abortSignal,
          ifNoneMatch: "*",
          updateIntervalInMs: pollMs,
        }),
      ),
    async updateVm(group, name, input, abortSignal) {
      await request(abortSignal, ({ compute }) =>
        compute.virtualMachines.update(group, name, input, { abortSignal, updateIntervalInMs: pollMs }),
      );
    },
    deleteVm: (group, name, abortSignal) =>
      remove(vmWatch, group, name, abortSignal, ({ compute }) =>
        compute.virtualMachines.delete(group, name, { abortSignal, updateIntervalInMs: pollMs }),
      ),
    listNics: (group, abortSignal) =>
      all(abortSignal, ({ network }) => network.networkInterfaces.list(group, { abortSignal })),
    settledNic: nicWatch,
    putNic: (group, name, input, abortSignal) =>
      create(nicWatch, group, name, abortSignal, ({ network }) =>
        network.networkInterfaces.createOrUpdate(group, name, input, { abortSignal, updateIntervalInMs: pollMs }),
      ),
    deleteNic: (group, name, abortSignal) =>
      remove(nicWatch, group, name, abortSignal, ({ network }) =>
        network.networkInterfaces.delete(group, name, { abortSignal, updateIntervalInMs: pollMs }),
      ),
    listDisks: (group, abortSignal) =>
      all(abortSignal, ({ compute }) => compute.disks.listByResourceGroup(group, { abortSignal })),
    settledDisk: diskWatch,
    putDisk: (group, name, input, abortSignal) =>
      create(diskWatch, group, name, abortSignal, ({ compute }) =>
        compute.disks.createOrUpdate(group, name, input, { abortSignal, updateIntervalInMs: pollMs }),
      ),
    deleteDisk: (group, name, abortSignal) =>
      remove(diskWatch, group, name, abortSignal, ({ compute }) =>
        compute.disks.delete(group, name, { abortSignal, updateIntervalInMs: pollMs }),
      ),
    async getImage(location, { publisher, offer, sku, version }, abortSignal) {
      const image = await orMissing(
        request(abortSignal, ({ compute }) =>
          compute.virtualMachineImages.get(location, publisher, offer, sku, version, { abortSignal }),
        ),
      );
      return image === undefined ? undefined : { plan: image.plan };
    },
    async acceptTerms({ publisher, product, name }, abortSignal) {
      const terms = (clients: Clients) =>
        clients
          .marketplace()
          .then(({ marketplaceAgreements }) =>
            marketplaceAgreements.get("virtualmachine", publisher, product, name, { abortSignal }),
          );
      const found = await request(abortSignal, terms);
      if (found.accepted === true) return;
      await request(abortSignal, (clients) =>
        clients
          .marketplace()
          .then(({ marketplaceAgreements }) =>
            marketplaceAgreements.create(
              "virtualmachine",
              publisher,
              product,
              name,
              { ...found, accepted: true },
              { abortSignal },
            ),
          ),
      );
    },
    async listSizes(location, abortSignal) {
      const skus = await all(abortSignal, ({ compute }) =>
        compute.resourceSkus.list({ filter: `location eq '${location}'`, abortSignal }),
      );
      return skus.filter(({ resourceType }) => resourceType === "virtualMachines");
    },
    getResource: (type, path, signal) => orMissing(request(signal, ({ read }) => read(addressOf(type, path), signal))),
    listResources: (type, path, signal) =>
      orMissing(
        request(signal, async ({ read }) => {
          const items: unknown[] = [];
          const visited = new Set<string>();
          for (let url: unknown = addressOf(type, path); typeof url === "string" && url !== "";) {
            // A token must not go to another host, and no list has an end that leads to its beginning.
            if (!url.startsWith(`${options.cloud.endpoint}/`) || visited.has(url))
              throw new MachineError("Unavailable", "Azure returned an unreadable page of a list");
            visited.add(url);
            const page = await read(url, signal);
            const value = fieldOf(page, "value");
            if (Array.isArray(value)) items.push(...(value satisfies unknown[]));
            url = fieldOf(page, "nextLink");
          }
          return items;
        }),
      ),
    close: () => lazyClients.close(),
  };
}
