(function_definition name: (name) @name body: (_) @body) @function
(class_declaration name: (name) @name body: (_) @body) @class
(interface_declaration name: (name) @name body: (_) @body) @interface
(trait_declaration name: (name) @name body: (_) @body) @trait
(enum_declaration name: (name) @name body: (_) @body) @enum
(method_declaration name: (name) @name body: (_)? @body) @method
(const_declaration (const_element . (name) @name . (_) @body)) @constant
(anonymous_class) @local
