"""The Python side of sagekit: where its program is. Everything is done by the program (`sagekit --help`)."""

import importlib.metadata
import os
import shutil
import sys
import sysconfig


def find_program():
    """The path of the program that was installed together with this package."""
    name = "sagekit"
    places = []
    try:
        # Its own RECORD knows, wherever an installer put scripts; the file is beside other scripts, never in this package.
        for file in importlib.metadata.distribution(name).files or ():
            if file.name == name and file.parent.name == "bin":
                places.append(os.path.normpath(file.locate()))
    except importlib.metadata.PackageNotFoundError:
        pass
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    target = os.path.join(home, "bin", name)
    places += [target, os.path.join(sysconfig.get_path("scripts"), name)]
    if os.path.isfile(target) and not os.path.isdir(os.path.join(home, "lib")):
        sys.exit(f"sagekit: {home} was filled by pip install --target, which leaves out the library that the program needs. "
                 "Use an environment: python3 -m venv DIR && DIR/bin/pip install sagekit; or uv tool install sagekit")
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    found = shutil.which(name)
    if found:
        return found
    sys.exit(f"sagekit's program is missing; it was looked for at {', '.join(places)}. Install the package again.")
