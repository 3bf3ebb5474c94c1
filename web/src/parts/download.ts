// Files that the page makes.

/** Save content as a file. */
export function save(name: string, content: string | Blob, type = "text/plain;charset=utf-8"): void {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A file's name of names from outside. */
export const fileName = (name: string, extension: string): string => `${name.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(-80) || "headwater"}.${extension}`;
