# Lays out packages that registries would serve: for pip, npm, cargo and apt. The argument is the folder that is served.
import hashlib, io, json, os, subprocess, sys, tarfile, zipfile

os.chdir(sys.argv[1])


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def tar(members, kind="w:gz"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=kind) as archive:
        for name, text in members:
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


wheel = io.BytesIO()
with zipfile.ZipFile(wheel, "w") as archive:
    head = "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n"
    archive.writestr("probe.py", "")
    archive.writestr("probe-1.0.dist-info/METADATA", head)
    archive.writestr("probe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    archive.writestr("probe-1.0.dist-info/RECORD", "")
put("simple/probe/probe-1.0-py3-none-any.whl", wheel.getvalue())
put("simple/probe/index.html", '<a href="probe-1.0-py3-none-any.whl">probe-1.0-py3-none-any.whl</a>')

package = tar([("package/package.json", json.dumps({"name": "probe", "version": "1.0.0"}))])
put("npm/files/probe-1.0.0.tgz", package)
version = {"name": "probe", "version": "1.0.0", "dist": {
    "tarball": "https://registry.test/npm/files/probe-1.0.0.tgz", "shasum": hashlib.sha1(package).hexdigest()}}
put("npm/probe", json.dumps({"name": "probe", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}))

manifest = '[package]\nname = "probe"\nversion = "1.0.0"\nedition = "2021"\n'
crate = tar([("probe-1.0.0/Cargo.toml", manifest), ("probe-1.0.0/src/lib.rs", "")])
put("cargo/dl/probe/1.0.0/download", crate)
put("cargo/config.json", json.dumps({"dl": "https://registry.test/cargo/dl"}))
put("cargo/pr/ob/probe", json.dumps({"name": "probe", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
                                     "cksum": hashlib.sha256(crate).hexdigest()}) + "\n")

control = "Package: probe\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody\nDescription: a probe\n"
deb = io.BytesIO(b"!<arch>\n")
deb.seek(0, 2)
for name, data in [("debian-binary", b"2.0\n"), ("control.tar.gz", tar([("./control", control)])), ("data.tar.gz", tar([]))]:
    deb.write(("%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, "100644", len(data))).encode() + data)
    deb.write(b"\n" * (len(data) % 2))
deb = deb.getvalue()
put("apt/probe.deb", deb)
put("apt/Packages", control + "Filename: ./probe.deb\nSize: %d\nSHA256: %s\n" % (len(deb), hashlib.sha256(deb).hexdigest()))
