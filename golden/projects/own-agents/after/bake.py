print("bread")
