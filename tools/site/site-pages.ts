import { posix } from "node:path";
import { isExternal, linksOf, mapLinks } from "../docs/markdown-links.ts";

/** What the site is made of. */
export interface SiteSources {
  /** Text of each tracked Markdown file, by its path from the root of the repository. */
  readonly pages: ReadonlyMap<string, string>;
  /** Address of the repository, for links to other files. */
  readonly repository: string;
  /** The tag or branch that those links lead to. */
  readonly ref: string;
}

/** A page or a picture of the site. */
export interface SiteFile {
  /** Path in the site. */
  readonly path: string;
  /** Path in the repository. */
  readonly source: string;
  /** Of a page; a picture is copied. */
  readonly text?: string;
}

/** Folders with pages for users. All others, and the files beside the README, are the project book: how the project is built, and the evidence. */
const forUsers = /^(docs|charts|providers|examples|drivers|deploy|packages\/(cli|conformance|create-driver))\//;

/** The spine of the project, at the place where developers of any project look first. */
const ARCHITECTURE = "docs/architecture.md";

/** Where a Markdown file of the repository is in the site: the README is its first page, documents have no prefix, and the project book has its own folder. */
export function sitePath(source: string): string {
  if (source === "README.md") return "index.md";
  if (source === "docs/README.md") return "contents.md";
  if (source === ARCHITECTURE) return "project/architecture.md";
  const { dir, base } = posix.parse(source);
  if (dir === "") return `project/${base.toLowerCase()}`;
  const folder = forUsers.test(source) ? dir.replace(/^docs(\/|$)/, "") : `project/${dir}`;
  return posix.join(folder, base === "README.md" ? "index.md" : base);
}

/** Whether a page is in the project book, which the sidebar and the search of users leave out. */
export const isProjectPage = (source: string): boolean => sitePath(source).startsWith("project/");

/** The address of a page in the site. */
const addressOf = (source: string): string => `/${sitePath(source)}`.replace(/(?<=\/)index\.md$/, "");

/** The file or folder of the repository that a link of a page leads to. A link to the page itself leads to it. */
const targetOf = (source: string, link: string): string => {
  const [path = ""] = link.split("#");
  return path === "" ? source : posix.join(posix.dirname(source), path).replace(/\/$/, "");
};

/** A folder is read by its README. */
const pageOf = (target: string, { pages }: SiteSources): string | undefined =>
  [target, posix.join(target, "README.md")].find((each) => pages.has(each));

const isPicture = (target: string): boolean => /\.(png|svg)$/.test(target);

/** The pages that are reached from these by links, with all of `docs`, and their pictures. Links between them are as the site needs them; those to other files lead to the repository. */
export function siteFiles(first: readonly string[], sources: SiteSources): readonly SiteFile[] {
  const { pages, repository, ref } = sources;
  const reached = new Set([...first, ...[...pages.keys()].filter((page) => page.startsWith("docs/"))]);
  const pictures = new Set<string>();
  for (const source of reached)
    for (const link of linksOf(pages.get(source) ?? "").filter((each) => !isExternal(each))) {
      const target = targetOf(source, link);
      const page = pageOf(target, sources);
      if (page !== undefined) reached.add(page);
      else if (isPicture(target)) pictures.add(target);
    }
  const picturePath = (source: string): string => source.replace(/^docs\//, "");
  const linkFrom = (source: string, link: string): string => {
    if (isExternal(link) || link.startsWith("#")) return link;
    const target = targetOf(source, link);
    const page = pageOf(target, sources);
    const [, anchor] = link.split("#");
    const suffix = anchor === undefined ? "" : `#${anchor}`;
    if (page !== undefined) return `${addressOf(page)}${suffix}`;
    return pictures.has(target) ? `/${picturePath(target)}` : `${repository}/blob/${ref}/${target}${suffix}`;
  };
  return [
    ...[...reached].map((source) => ({
      path: sitePath(source),
      source,
      text: mapLinks(pages.get(source) ?? "", (link) => linkFrom(source, link)),
    })),
    ...[...pictures].map((source) => ({ path: picturePath(source), source })),
  ];
}

/** An entry of the sidebar, as VitePress takes it. */
export interface SidebarItem {
  readonly text: string;
  readonly link: string;
}

/** A part of the sidebar. */
export interface SidebarGroup {
  readonly text: string;
  readonly items: readonly SidebarItem[];
}

/** The sidebar: the parts and links of the map of all documents, in its order. A page is named once, where the map has it first; others leave the site. */
export function sidebarOf(map: string, sources: SiteSources): readonly SidebarGroup[] {
  const seen = new Set<string>();
  const groups: { text: string; items: SidebarItem[] }[] = [];
  for (const line of (sources.pages.get(map) ?? "").split("\n")) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    for (const [, text = "", link = ""] of line.matchAll(/(?<!!)\[([^\]]+)\]\(([^)\s]+)\)/g)) {
      if (isExternal(link)) continue;
      const page = pageOf(targetOf(map, link), sources);
      if (page === undefined || seen.has(page)) continue;
      seen.add(page);
      groups.at(-1)?.items.push({ text, link: addressOf(page) });
    }
  }
  return groups.filter(({ items }) => items.length > 0);
}
